package analyzer

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// alike are letters of other alphabets that look like a Latin letter. µ is left out, because units
// are written with it.
var alike = func() map[rune]rune {
	const others = "АВЕКМНОРСТХЅІЈаеорсухіјѕһԁԛԝΑΒΕΖΗΙΚΜΝΟΡΤΥΧοѵ"
	const latins = "ABEKMHOPCTXSIJaeopcyxijshdqwABEZHIKMNOPTYXov"
	letters, same := []rune(latins), map[rune]rune{}
	for i, r := range []rune(others) {
		same[r] = letters[i]
	}
	return same
}()

// strange returns what makes a name differ from the one that a reader sees, and the name that a
// reader sees: a letter of another alphabet within a word of Latin letters, another character
// that looks like a space, a letter in two characters, or a space at an end. It returns "" if there
// is nothing of that kind.
func strange(name string) (what, seen string) {
	if what, seen = parted(name); what != "" {
		return what, seen
	}
	seen = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case 0xFF01 <= r && r <= 0xFF5E: // full width
			return r - 0xFEE0
		}
		return r
	}, name)
	if plain := strings.TrimSpace(seen); plain != seen && plain != "" && seen == name {
		if strings.HasPrefix(seen, " ") {
			return "a space at its beginning", plain
		}
		return "a space at its end", plain
	}
	for _, word := range strings.FieldsFunc(seen, func(r rune) bool { return !unicode.IsLetter(r) }) {
		if strings.ContainsFunc(word, isLatin) {
			seen = strings.ReplaceAll(seen, word, strings.Map(latin, word))
		}
	}
	from, to := []rune(name), []rune(seen)
	for i, r := range from { // seen has as many letters
		if r != to[i] {
			return fmt.Sprintf("the character U+%04X, which looks like %q and is another one", r, to[i]), strings.TrimSpace(seen)
		}
	}
	return "", ""
}

func isLatin(r rune) bool { return unicode.Is(unicode.Latin, r) }

func latin(r rune) rune {
	if l, ok := alike[r]; ok {
		return l
	}
	return r
}

// keyTexts returns the constant parts of the key of a state.
func keyTexts(by *ir.KeyOf) (texts []string) {
	if by == nil {
		return nil
	}
	for _, p := range by {
		if p.Constant && p.Type == stubs.Name {
			texts = append(texts, p.Text)
		}
	}
	return texts
}

// lookalikes returns warnings about names in policies that differ from what a reader sees.
func lookalikes(members []Member) (all []Remark) {
	told := map[string]bool{}
	for _, m := range members {
		match := slices.Concat(m.Spec.Match.Tasks, m.Spec.Match.Except, m.Spec.Match.Loops)
		var names []string
		for _, mention := range m.Verified.program.Mentions() {
			names = append(names, mention.Name)
		}
		for _, r := range m.Verified.program.Reads {
			names = append(names, r.Pattern)
			if r.Stub == stubs.TaskSections || r.Stub == stubs.TaskLabels || r.Stub == stubs.ArrivingLabels {
				names = append(names, r.Key)
			}
			names = append(names, keyTexts(r.By)...)
		}
		for _, s := range m.Verified.program.Sites {
			names = append(names, keyTexts(s.By)...)
		}
		names = append(names, m.Spec.On.Custom)
		for i, name := range slices.Concat(match, names) {
			if what, seen := strange(name); what != "" && !told[name] {
				told[name] = true
				all = append(all, m.aboutName(i < len(match), name, "write "+strconv.Quote(seen), "%q has %s", name, what))
			}
		}
	}
	return all
}
