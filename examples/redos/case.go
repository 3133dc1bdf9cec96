package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/dlclark/regexp2"
)

// evilCase is a regular expression that blows up, and the input on which it does.
type evilCase struct {
	Name         string   `json:"name"`
	Pattern      string   `json:"pattern"`
	Options      []string `json:"options"` // keys of optionsByName
	Prefix       string   `json:"prefix"`
	Pump         string   `json:"pump"`
	Suffix       string   `json:"suffix"`
	Repeat       int      `json:"repeat"`        // of the pump, in the attack
	BenignRepeat int      `json:"benign_repeat"` // of the pump, in an input that matches quickly
	BenignMatch  bool     `json:"benign_match"`  // whether the pattern matches the benign input
	Source       string   `json:"source"`        // the publication
}

func (c evilCase) input(repeat int) string {
	return c.Prefix + strings.Repeat(c.Pump, repeat) + c.Suffix
}

// attack returns the input on which the pattern takes forever, or much too long.
func (c evilCase) attack() string { return c.input(c.Repeat) }

// benign returns the input on which the match ends at once.
func (c evilCase) benign() string { return c.input(c.BenignRepeat) }

func (c evilCase) compile() (*regexp2.Regexp, error) { return compile(c.Pattern, c.Options) }

var optionsByName = map[string]regexp2.RegexOptions{
	"IgnoreCase":              regexp2.IgnoreCase,
	"Multiline":               regexp2.Multiline,
	"ExplicitCapture":         regexp2.ExplicitCapture,
	"Singleline":              regexp2.Singleline,
	"IgnorePatternWhitespace": regexp2.IgnorePatternWhitespace,
	"RightToLeft":             regexp2.RightToLeft,
	"ECMAScript":              regexp2.ECMAScript,
	"RE2":                     regexp2.RE2,
	"Unicode":                 regexp2.Unicode,
}

// compile compiles a pattern; regexp2's own timeout is off, which is its default.
func compile(pattern string, options []string) (*regexp2.Regexp, error) {
	var all regexp2.RegexOptions
	for _, name := range options {
		option, ok := optionsByName[name]
		if !ok {
			return nil, fmt.Errorf("regexp2 has no option %q", name)
		}
		all |= option
	}
	return regexp2.Compile(pattern, all)
}

// maxInput limits an attack's length in bytes.
const maxInput = 1 << 20

func (c evilCase) validate() error {
	switch {
	case c.Name == "":
		return fmt.Errorf("it has no name")
	case c.Pump == "":
		return fmt.Errorf("%s: its pump is empty", c.Name)
	case c.BenignRepeat < 0 || c.Repeat <= c.BenignRepeat:
		return fmt.Errorf("%s: repeat is %d and benign_repeat %d; want repeat > benign_repeat >= 0", c.Name, c.Repeat, c.BenignRepeat)
	case c.Repeat > maxInput/len(c.Pump) || len(c.Prefix)+c.Repeat*len(c.Pump)+len(c.Suffix) > maxInput:
		return fmt.Errorf("%s: the attack has more than %d bytes", c.Name, maxInput)
	}
	if _, err := c.compile(); err != nil {
		return fmt.Errorf("%s: %w", c.Name, err)
	}
	return nil
}

// readCases reads a JSON file with a list of cases, which may have more fields than evilCase. With
// an empty path it returns the built-in cases.
func readCases(path string) ([]evilCase, error) {
	if path == "" {
		return builtIn, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var cases []evilCase
	if err := json.Unmarshal(text, &cases); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(cases) == 0 {
		return nil, fmt.Errorf("%s: no case; want a list of one or more", path)
	}
	for i, c := range cases {
		if err := c.validate(); err != nil {
			return nil, fmt.Errorf("%s: case %d: %w", path, i+1, err)
		}
		if slices.ContainsFunc(cases[:i], func(d evilCase) bool { return d.Name == c.Name }) {
			return nil, fmt.Errorf("%s: case %d: there is another %s before it", path, i+1, c.Name)
		}
	}
	return cases, nil
}
