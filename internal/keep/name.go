package keep

import (
	"strconv"
	"strings"
)

// split returns the package of a function, and the function's name in rules. In stack traces, the
// dots in the last element of a package's path are escaped, and instances of generic functions have
// brackets.
func split(function string) (pkg, name string) {
	dot := strings.LastIndexByte(function, '/') + 1
	// a path among the type arguments
	if bracket := strings.IndexByte(function, '['); bracket >= 0 && bracket < dot {
		dot = strings.LastIndexByte(function[:bracket], '/') + 1
	}
	i := strings.IndexByte(function[dot:], '.')
	if i < 0 {
		return function, function
	}
	pkg, name = function[:dot+i], function[dot+i:]
	if strings.IndexByte(pkg, '%') >= 0 {
		pkg = unescaped(pkg)
		function = pkg + name
	}
	if strings.IndexByte(name, '[') >= 0 {
		function = pkg + withoutBrackets(name)
	}
	return pkg, function
}

func unescaped(path string) string {
	var out strings.Builder
	for i := 0; i < len(path); i++ {
		if path[i] == '%' && i+2 < len(path) {
			if b, err := strconv.ParseUint(path[i+1:i+3], 16, 8); err == nil {
				out.WriteByte(byte(b))
				i += 2
				continue
			}
		}
		out.WriteByte(path[i])
	}
	return out.String()
}

func withoutBrackets(name string) string {
	var out strings.Builder
	depth := 0
	for _, c := range name {
		switch c {
		case '[':
			depth++
		case ']':
			depth--
		default:
			if depth == 0 {
				out.WriteRune(c)
			}
		}
	}
	return out.String()
}
