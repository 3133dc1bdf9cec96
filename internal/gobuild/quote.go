package gobuild

import (
	"fmt"
	"strings"
)

const spaces = " \t\n\r"

// split splits a line into words as the go command does: a word may be in single or double quotes,
// without escapes.
func split(s string) (words []string, err error) {
	for {
		s = strings.TrimLeft(s, spaces)
		if s == "" {
			return words, nil
		}
		if quote := s[:1]; quote == `"` || quote == `'` {
			word, rest, ok := strings.Cut(s[1:], quote)
			if !ok {
				return nil, fmt.Errorf("there is no closing quote in %s", s)
			}
			words, s = append(words, word), rest
			continue
		}
		end := strings.IndexAny(s, spaces)
		if end < 0 {
			end = len(s)
		}
		words, s = append(words, s[:end]), s[end:]
	}
}

// join is the inverse of split.
func join(words []string) (string, error) {
	quoted := make([]string, len(words))
	for i, w := range words {
		switch {
		case w != "" && !strings.ContainsAny(w, spaces+`'"`):
			quoted[i] = w
		case !strings.Contains(w, "'"):
			quoted[i] = "'" + w + "'"
		case !strings.Contains(w, `"`):
			quoted[i] = `"` + w + `"`
		default:
			return "", fmt.Errorf("%s contains quotes of both kinds, which the go command cannot parse; want one kind at most", w)
		}
	}
	return strings.Join(quoted, " "), nil
}
