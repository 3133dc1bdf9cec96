package lang

import "slices"

// Spellings are names of which one may be a misspelling of another.
type Spellings struct {
	places map[string]int      // in the order given to NewSpellings
	longer map[string][]string // names that are another one with one letter more, by the other one
}

// NewSpellings returns the names, which may be thousands, in their order.
func NewSpellings(names []string) *Spellings {
	s := &Spellings{places: make(map[string]int, len(names)), longer: map[string][]string{}}
	for i, name := range names {
		s.places[name] = i
	}
	for _, name := range names {
		s.shorter(name, func(short string) { s.longer[short] = append(s.longer[short], name) })
	}
	return s
}

// Misspelt returns the first of the names of which name, one of them, is most likely a misspelling,
// or "": a letter inside a word is missing, too many, or swapped with its neighbour. Names that
// differ by another letter, by a digit or at the end of a word may both be right, as GET /item and
// GET /items.
func (s *Spellings) Misspelt(name string) string {
	if len(name) > maxSpelt {
		return ""
	}
	all := slices.Clone(s.longer[name])
	s.shorter(name, func(short string) { all = append(all, short) })
	other := []byte(name)
	for i := 0; i+1 < len(other); i++ {
		other[i], other[i+1] = other[i+1], other[i]
		if _, known := s.places[string(other)]; known && swapped(name, string(other)) {
			all = append(all, string(other))
		}
		other[i], other[i+1] = other[i+1], other[i]
	}
	first := ""
	for _, o := range all {
		if first == "" || s.places[o] < s.places[first] {
			first = o
		}
	}
	return first
}

// maxSpelt is the length of names that are too long to be compared.
const maxSpelt = 256

// shorter calls then for each of the names that lacks one letter of name.
func (s *Spellings) shorter(name string, then func(string)) {
	if len(name) == 0 || len(name) > maxSpelt+1 {
		return
	}
	short := []byte(name[1:]) // without the letter at i
	for i := range name {
		if i > 0 {
			short[i-1] = name[i-1]
		}
		again := i > 0 && name[i] == name[i-1] // the same as without the letter before
		if _, known := s.places[string(short)]; known && !again && lacks(string(short), name) {
			then(string(short))
		}
	}
}

// Misspelt is Spellings.Misspelt for a few candidates, of which name need not be one.
func Misspelt(name string, candidates []string) string {
	if len(name) > maxSpelt {
		return ""
	}
	for _, c := range candidates {
		if -1 <= len(name)-len(c) && len(name)-len(c) <= 1 && (swapped(name, c) || lacks(name, c) || lacks(c, name)) {
			return c
		}
	}
	return ""
}

// swapped reports whether two neighbouring letters of a are swapped in b.
func swapped(a, b string) bool {
	i := common(a, b)
	return len(a) == len(b) && i+1 < len(a) && letter(a[i]) && letter(a[i+1]) &&
		a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
}

// lacks reports whether a is b without one letter inside a word.
func lacks(a, b string) bool {
	i := common(a, b)
	return len(a)+1 == len(b) && 0 < i && i < len(a) && letter(b[i-1]) && letter(b[i]) && letter(a[i]) && a[i:] == b[i+1:]
}

// common returns the length of the common beginning.
func common(a, b string) (n int) {
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

func letter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
