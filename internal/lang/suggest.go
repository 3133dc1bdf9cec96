package lang

import (
	"slices"
	"strings"
)

// Suggest returns the candidate that a misspelt word most likely meant, or "".
func Suggest(word string, candidates []string) string {
	if len(word) > 64 {
		return ""
	}
	best, distance := "", 1+max(1, len(word)/3)
	for _, c := range slices.Sorted(slices.Values(candidates)) {
		if d := editDistance(strings.ToLower(word), strings.ToLower(c)); d < distance {
			best, distance = c, d
		}
	}
	return best
}

// DidYouMean formats a suggestion as a hint: a question, or a list of the candidates.
func DidYouMean(word string, candidates []string) string {
	if s := Suggest(word, candidates); s != "" {
		return "did you mean " + s + "?"
	}
	if len(candidates) == 0 {
		return ""
	}
	return "there is " + strings.Join(slices.Sorted(slices.Values(candidates)), ", ")
}

// editDistance is the number of single letters to insert, delete, replace or swap with their
// neighbour to make a into b.
func editDistance(a, b string) int {
	x, y := []rune(a), []rune(b)
	before, last, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(x); i++ {
		row[0] = i
		for j := 1; j <= len(y); j++ {
			same := 1
			if x[i-1] == y[j-1] {
				same = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+same)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(y)]
}

// CutShort reports whether a name is most likely another one that lacks its last letter: GET /health
// of GET /healthz. The last word has five letters or more.
func CutShort(name, whole string) bool {
	if len(name)+1 != len(whole) || whole[:len(name)] != name {
		return false
	}
	for i := range 5 {
		if at := len(name) - i; at < 0 || !letter(whole[at]) {
			return false
		}
	}
	return true
}

// Plain returns a name without what authors get wrong: in small letters, without a slash or an s at
// its end. Two names that are plainly the same may both be right.
func Plain(name string) string {
	name = strings.ToLower(name)
	if cut := strings.TrimSuffix(strings.TrimSuffix(name, "/"), "s"); len(cut) > 2 {
		return cut
	}
	return name
}
