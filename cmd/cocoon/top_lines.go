package main

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/cocoondebug"
)

// lines returns a snapshot as lines of text that fit.
func (t *top) lines(s *cocoondebug.Snapshot, width, height int) []string {
	all := []string{fmt.Sprintf("cocoon  %s  mode %s  %d live tasks  sorted by %s", s.Time.Format("15:04:05.0"), s.Mode, s.Live, t.sort)}
	if s.Ended {
		all[0] += "  the runtime has shut down"
	}
	all = append(all, loopLines(s)...)
	names, policies, decisions := namesLines(s, t.sort), policyLines(s), decisionLines(s)
	// The names get half of the rest of the screen, and the other parts the rest of that.
	room := max(0, height-len(all)-3)
	names = atMost(names, max(room/2, room-len(policies)-len(decisions)))
	room -= len(names)
	policies = atMost(policies, max(room/2, room-len(decisions)))
	room -= len(policies)
	for _, part := range [][]string{names, policies, atMost(decisions, room)} {
		if len(part) > 0 {
			all = append(append(all, ""), part...)
		}
	}
	all = all[:min(len(all), height)]
	for i := range all {
		all[i] = clipped(all[i], width)
	}
	return all
}

func loopLines(s *cocoondebug.Snapshot) []string {
	return table(func(row func(...any)) {
		row("LOOP", "SLOTS", "BUSY", "QUEUED", "SUSPENDED", "LENT", "PARKED", "LOAD", "ENDED/S", "REFUSED/S", "WAIT P50", "P99", "STALLS")
		for _, l := range s.Loops {
			row(l.Name, l.Slots, l.Busy, l.Queued, l.Suspended, l.Lent, l.Parked, fmt.Sprintf("%.0f%%", 100*l.Utilization),
				fmt.Sprintf("%.1f", l.EndedRate), fmt.Sprintf("%.1f", l.RefusedRate),
				cocoondebug.Duration(l.Wait.P50), cocoondebug.Duration(l.Wait.P99), l.Stalls)
		}
	})
}

func namesLines(s *cocoondebug.Snapshot, by cocoondebug.Sort) []string {
	return table(func(row func(...any)) {
		row("NAME", "SLOTS", "LIVE", "QUEUED", "LONGEST WAIT", "THROWS", "REFUSALS")
		for _, n := range s.NamesBy(by) {
			row(n.Name, fmt.Sprintf("%.2f", n.CPU), n.Tasks, n.Queued, cocoondebug.Duration(n.Wait), n.Throws, n.Refusals)
		}
		if s.MoreNames > 0 {
			row(fmt.Sprintf("and %d more", s.MoreNames))
		}
	})
}

func policyLines(s *cocoondebug.Snapshot) []string {
	return table(func(row func(...any)) {
		row("POLICY", "MODE", "THROWS", "REFUSALS", "SWITCHES", "WOULD THROW", "ERRORS")
		for _, p := range s.Policies {
			mode := p.Mode
			if p.Off {
				mode = "switched off"
			}
			row(p.Name, mode, p.Throws, p.Refusals, p.Switches, p.WouldThrow, p.Errors)
		}
	})
}

func decisionLines(s *cocoondebug.Snapshot) []string {
	return table(func(row func(...any)) {
		row("TIME", "DECISION", "TASK", "POLICY", "REASON")
		for _, d := range s.Decisions {
			kind, reason := d.Kind, d.Reason
			switch {
			case kind == string(cocoon.DecisionMode):
				kind += " " + d.Mode
			case d.Mode == "observe":
				kind += " (observed)"
			}
			if d.File != "" && d.Policy == "" && !strings.Contains(reason, d.File) {
				reason = strings.TrimPrefix(reason+": ", ": ") + d.File
			}
			row(d.Time.Format("15:04:05.000"), kind, d.Task, d.Policy, reason)
		}
	})
}

// table aligns rows in columns. Texts of clients cannot change the terminal.
func table(fill func(row func(...any))) []string {
	var text bytes.Buffer
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fill(func(cells ...any) {
		for i, c := range cells {
			if i > 0 {
				fmt.Fprint(w, "\t")
			}
			fmt.Fprint(w, clipped(printable(fmt.Sprint(c)), maxCell))
		}
		fmt.Fprintln(w)
	})
	w.Flush()
	lines := strings.Split(strings.TrimRight(text.String(), "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return lines
}

// maxCell bounds a cell of a table, in characters.
const maxCell = 48

// printable replaces what a terminal would not print, such as control sequences.
func printable(s string) string {
	var b strings.Builder
	for _, r := range s {
		if unicode.IsPrint(r) && r != unicode.ReplacementChar {
			b.WriteRune(r)
		} else {
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		}
	}
	return b.String()
}

// clipped returns the first characters of a line.
func clipped(line string, most int) string {
	switch r := []rune(line); {
	case len(r) <= most:
		return line
	case most < 1:
		return ""
	default:
		return string(r[:most-1]) + "…"
	}
}

// atMost returns the first lines of a part of the screen, or none if its head alone would be left.
func atMost(lines []string, most int) []string {
	if most < 2 {
		return nil
	}
	return lines[:min(len(lines), most)]
}
