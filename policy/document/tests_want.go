package document

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/cocoon-go/cocoon/internal/lang"
)

// read reads the expected result: a verdict, or keys and values.
func (w *TestWant) read(n *yaml.Node) error {
	return w.TestDecision.read(n, "expect",
		key{name: "observed", read: func(n *yaml.Node) error {
			w.Observed = &TestDecision{}
			return w.Observed.read(n, "observed")
		}},
		key{name: "error", read: func(n *yaml.Node) error { return readString(n, &w.Error) }},
		key{name: "asked", read: func(n *yaml.Node) error { w.Asked = &[]string{}; return readStrings(n, "asked", w.Asked) }},
		key{name: "off", read: func(n *yaml.Node) error { w.Off = &[]string{}; return readStrings(n, "off", w.Off) }},
	)
}

// read reads the expected decision, and other keys: a verdict, or keys and values.
func (d *TestDecision) read(n *yaml.Node, what string, others ...key) error {
	verdict := func(n *yaml.Node) error {
		var text string
		if err := readString(n, &text); err != nil {
			return err
		}
		v, err := canonicalVerdict(text)
		if err != nil {
			return lineError(n, "%v", err)
		}
		d.Verdict = &v
		return nil
	}
	if n.Kind == yaml.ScalarNode {
		return verdict(n)
	}
	return decodeMap(n, what, append([]key{
		{name: "verdict", read: verdict},
		{name: "policy", read: func(n *yaml.Node) error { return readString(n, &d.Policy) }},
		{name: "effects", read: d.readEffects},
		{name: "counts", read: d.readCounts},
		{name: "states", read: d.readStates},
	}, others...))
}

var throwText = regexp.MustCompile(`^throw\((?:"((?:[^"\\]|\\.)*)"|'([^'\\]*)'|` + "`([^`]*)`" + `)(?:,\s*(?:duration\("([^"]*)"\)|([^")]*)))?\)$`)

// canonicalVerdict reads a verdict as policies write it.
func canonicalVerdict(text string) (string, error) {
	text = strings.TrimSpace(text)
	if text == "continue()" || text == "switch()" {
		return text, nil
	}
	m := throwText.FindStringSubmatch(text)
	if m == nil {
		return "", fmt.Errorf("%q is not a verdict; %s", text, verdictHint(text))
	}
	reason := m[2] + m[3]
	if m[1] != "" {
		r, err := strconv.Unquote(`"` + m[1] + `"`)
		if err != nil {
			return "", fmt.Errorf("%q is not a verdict: %v", text, err)
		}
		reason = r
	}
	retry := time.Duration(0)
	if text := m[4] + m[5]; text != "" {
		d, err := lang.ParseDuration(text)
		if err != nil {
			return "", fmt.Errorf("%q is not a verdict: %v", text, err)
		}
		retry = time.Duration(d)
	}
	return ThrowText(reason, retry), nil
}

// verdictHint says what to write in place of a text that is not a verdict.
func verdictHint(text string) string {
	name, rest, _ := strings.Cut(text, "(")
	reason, closed := strings.CutSuffix(rest, ")")
	switch meant := lang.Suggest(strings.TrimSpace(name), slices.Collect(maps.Keys(lang.Verdicts))); {
	case meant == "throw" && closed && !strings.ContainsAny(reason, "\"'`,"):
		return fmt.Sprintf("write throw(%q)", cmp.Or(strings.TrimSpace(reason), "reason"))
	case meant == "throw" && closed && name != meant:
		return "did you mean throw(" + rest + "?"
	case meant == "continue" || meant == "switch":
		return "write " + meant + "()"
	}
	return `want continue(), switch() or throw("reason")`
}

// ThrowText writes a throw as files of tests do. It omits a retry time of 0 or less.
func ThrowText(reason string, retry time.Duration) string {
	if retry > 0 {
		return fmt.Sprintf("throw(%q, %v)", reason, retry)
	}
	return fmt.Sprintf("throw(%q)", reason)
}

func (d *TestDecision) readEffects(n *yaml.Node) error {
	var texts []string
	if err := readStrings(n, "effects", &texts); err != nil {
		return err
	}
	all := []string{}
	for i, text := range texts {
		name, rest, ok := strings.Cut(strings.TrimSpace(text), "(")
		if !ok || !lang.Effects[name] && lang.Writes[name] == 0 && name != "take" || !strings.HasSuffix(rest, ")") {
			return lineError(n.Content[i], "%q is not an effect; write it like a policy, as in set(\"n\", 3) or rank(5ms)", text)
		}
		all = append(all, name+"("+rest)
	}
	d.Effects = &all
	return nil
}

func (d *TestDecision) readCounts(n *yaml.Node) error {
	if _, err := mapping(n, "counts"); err != nil {
		return err
	}
	d.Counts = map[string]int{}
	for i := 0; i < len(n.Content); i += 2 {
		verdict, err := canonicalVerdict(n.Content[i].Value)
		if err != nil {
			return lineError(n.Content[i], "counts has a number for each verdict, and %v", err)
		}
		var count int64
		if err := readInt(n.Content[i+1], &count); err != nil {
			return err
		}
		if count < 0 {
			return lineError(n.Content[i+1], "a verdict is said 0 times or more, and not %d times", count)
		}
		d.Counts[verdict] = int(min(count, MaxRepeats+1))
	}
	return nil
}

func (d *TestDecision) readStates(n *yaml.Node) error {
	values, err := readNamedValues(n, "states", stateOrKeys)
	d.States = make(map[string]Placed, len(values))
	for i := 0; err == nil && i < len(n.Content); i += 2 {
		name := n.Content[i]
		d.States[name.Value] = placed(name, values[name.Value])
	}
	return err
}

// readNamedValues reads values of states or keys without checking their names.
func readNamedValues(n *yaml.Node, what string, value func(*yaml.Node) (any, error)) (map[string]any, error) {
	if _, err := mapping(n, what); err != nil {
		return nil, err
	}
	values := map[string]any{}
	for i := 0; i < len(n.Content); i += 2 {
		v, err := value(n.Content[i+1])
		if err != nil {
			return nil, err
		}
		values[n.Content[i].Value] = v
	}
	return values, nil
}
