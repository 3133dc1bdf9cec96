package analyzer

import (
	"fmt"
	"slices"
)

// marked are the usual letters with a mark, by the character that adds the mark to the letter
// before it: the letters without it, and with it.
var marked = map[rune][2]string{
	0x0300: {"AEIOUaeiou", "ÀÈÌÒÙàèìòù"},
	0x0301: {"AEIOUYaeiouyCcLlNnRrSsZz", "ÁÉÍÓÚÝáéíóúýĆćĹĺŃńŔŕŚśŹź"},
	0x0302: {"AEIOUaeiouGgSs", "ÂÊÎÔÛâêîôûĜĝŜŝ"},
	0x0303: {"ANOano", "ÃÑÕãñõ"},
	0x0308: {"AEIOUaeiouy", "ÄËÏÖÜäëïöüÿ"},
	0x030A: {"AUau", "ÅŮåů"},
	0x030C: {"CDENRSTZcdenrstz", "ČĎĚŇŘŠŤŽčďěňřšťž"},
	0x0327: {"CSTcst", "ÇŞŢçşţ"},
	0x0328: {"AEIUaeiu", "ĄĘĮŲąęįų"},
}

// parted returns what makes a name differ from the one that a reader sees, if a letter with a mark,
// such as ü, is written as a letter and the mark; and the name with one character in their place.
// Names are compared character by character, and keyboards and browsers write one.
func parted(name string) (what, seen string) {
	runes := []rune(name)
	for i := 1; i < len(runes); i++ {
		of, ok := marked[runes[i]]
		at := slices.Index([]rune(of[0]), runes[i-1])
		if !ok || at < 0 {
			continue
		}
		whole := []rune(of[1])[at]
		if what == "" {
			what = fmt.Sprintf("%q as two characters, %q and U+%04X", whole, runes[i-1], runes[i])
		}
		runes = slices.Replace(runes, i-1, i+1, whole)
	}
	return what, string(runes)
}
