package analyzer

import (
	"fmt"
	"math"
	"strings"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// keyKind are the parts of a key. The arriving task's stubs count as stubs of the task.
type keyKind []keyPart

// keyPart is a constant, or the stub that a key is read from.
type keyPart struct {
	shown       string // the part as the policy writes it
	text        string // of the constant, or of the read
	constant    bool
	of          stubs.Type
	word        uint64 // of the constant
	least, most int64  // of an int
}

func (k keyKind) String() string {
	parts := make([]string, len(k))
	for i, part := range k {
		parts[i] = part.shown
	}
	return strings.Join(parts, " and ")
}

func (m Member) keyKind(by *ir.KeyOf) (kind keyKind) {
	if by == nil {
		return nil
	}
	texts := by.Texts()
	for i, part := range by {
		if part.Type == stubs.Invalid {
			continue
		}
		k := keyPart{shown: texts[i], text: texts[i], constant: part.Constant, of: part.Type, word: part.Word, least: int64(part.Word), most: int64(part.Word)}
		for _, r := range m.Verified.program.Reads {
			if !part.Constant && r.Offset == part.Offset {
				k.shown, k.text, k.word = r.String(), strings.ReplaceAll(r.String(), "arriving.", "task."), 0
				k.least, k.most = bounds(readValue(r))
				if c := m.Spec.On.Custom; c != "" && r.Stub == stubs.EventName {
					k.text, k.shown = k.text+" "+c, fmt.Sprintf("event.name, which is %q here,", c)
				}
			}
		}
		kind = append(kind, k)
	}
	return kind
}

// bounds returns the least and the greatest of integers; of other values all.
func bounds(v value) (least, most int64) {
	if !v.of.Integral() {
		return math.MinInt64, math.MaxInt64
	}
	return v.ints.lo, v.ints.hi
}

// constant reports whether all parts are constants.
func (k keyKind) constant() bool {
	for _, part := range k {
		if !part.constant {
			return false
		}
	}
	return true
}

// meets reports whether a key of one kind may be equal to a key of the other.
func (k keyKind) meets(w keyKind, tenant string) bool {
	for i := range min(len(k), len(w)) {
		if !k[i].meets(w[i], tenant) {
			return false
		}
	}
	return true
}

// names reports whether the name of the tenant in one key stands where the other has the label that
// names tenants.
func (k keyKind) names(w keyKind, tenant string) bool {
	const name = "tenant.name"
	label := (ir.Read{Stub: stubs.TaskLabels, Key: tenant}).String()
	for i := range min(len(k), len(w)) {
		if p, q := k[i].text, w[i].text; tenant != "" && (p == name && q == label || p == label && q == name) {
			return true
		}
	}
	return false
}

// meets reports whether two parts may be equal. The application chooses the names of events, and
// labels may have the numbers of the time; the label of the tenants names them.
func (p keyPart) meets(q keyPart, tenant string) bool {
	if q.text < p.text {
		p, q = q, p
	}
	label := strings.HasPrefix(p.text, "task.labels") && q.text == "tenant.name"
	switch {
	case p.constant && q.constant:
		return p.word == q.word
	case p.of == stubs.Int && (p.most < q.least || q.most < p.least):
		return false
	case p.constant, q.constant, p.text == q.text, p.text == "event.name", q.text == "event.name":
		return true
	case label:
		return tenant == "" || p.text == (ir.Read{Stub: stubs.TaskLabels, Key: tenant}).String()
	}
	return strings.HasPrefix(p.text, "clock.") && strings.HasPrefix(q.text, "int(")
}
