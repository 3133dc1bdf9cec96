package document

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/cocoon-go/cocoon/internal/lang"
	"github.com/cocoon-go/cocoon/internal/snippet"
)

// checkCharacters refuses a document with invisible or control characters, even in comments. It allows
// variation selectors, because emojis have them.
func checkCharacters(text []byte) error {
	line, col := 1, 0
	refuse := func(hint, format string, args ...any) error {
		return &Error{File: "document", Line: line, Col: col, Width: 1, Reason: fmt.Sprintf(format, args...), Hint: hint}
	}
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		col++
		switch {
		case r == utf8.RuneError && n == 1:
			return refuse("save it as UTF-8", "the document is not valid UTF-8")
		case r == '\r' && !bytes.HasPrefix(text[i+1:], []byte("\n")):
			return refuse("end lines with a line feed", "the line has a carriage return that does not end it")
		case unicode.IsControl(r) && !strings.ContainsRune("\t\r\n\u0085", r):
			return refuse("remove it", "the document holds the control character %U", r)
		case snippet.Invisible(r) && !unicode.Is(unicode.Variation_Selector, r):
			return refuse("remove it", "the document holds the invisible character %U", r)
		case r == '%' && col == 1 && line == 1 && bytes.HasPrefix(text, []byte("%YAML")), r == '%' && col == 1 && bytes.HasPrefix(text[i:], []byte("%TAG ")):
			return refuse("remove the line", "documents have no directives")
		case r == '\n':
			line, col = line+1, 0
		}
		i += n
	}
	return nil
}

// checkNodes refuses aliases, which can make a small text expand without limit, tags, escapes of
// invisible characters, and texts that a comma splits.
func checkNodes(n *yaml.Node) error {
	switch i := strings.IndexFunc(n.Value, snippet.Invisible); {
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		return lineError(n, "anchors and aliases are not supported; write the value out")
	case n.Style&yaml.TaggedStyle != 0:
		return lineError(n, "the tag %s is not supported; remove it", n.Tag)
	case i >= 0:
		r, _ := utf8.DecodeRuneInString(n.Value[i:])
		return lineError(n, "the text holds the invisible character %U; remove it", r)
	}
	if err := checkSplit(n); err != nil {
		return err
	}
	for _, c := range n.Content {
		if err := checkNodes(c); err != nil {
			return err
		}
	}
	return nil
}

// maxSplit is how many parts of a text checkSplit puts together, which bounds its time.
const maxSplit = 16

// checkSplit refuses a text without quotes that a comma splits, because it stands between braces or
// brackets of YAML: {expect: throw("busy", 2s)} has the key "2s)".
func checkSplit(n *yaml.Node) error {
	if n.Style&yaml.FlowStyle == 0 {
		return nil
	}
	unclosed := func(n *yaml.Node) int { return strings.Count(n.Value, "(") - strings.Count(n.Value, ")") }
	for i, first := range n.Content {
		open, whole := unclosed(first), first.Value
		if first.Kind != yaml.ScalarNode || first.Style != 0 {
			continue
		}
		for _, next := range n.Content[i+1 : min(i+1+maxSplit, len(n.Content))] {
			if open <= 0 || next.Kind != yaml.ScalarNode {
				break
			}
			if next.ShortTag() == "!!null" {
				continue // of a key without a value
			}
			whole += ", " + asWritten(next)
			if open += unclosed(next); open <= 0 {
				return lineError(first, "the comma ends the text %s, because it stands between braces or brackets; write '%s', in quotes",
					first.Value, strings.ReplaceAll(whole, "'", "''"))
			}
		}
	}
	return nil
}

// colon is a key and a text without quotes that has a colon, which to YAML is a key, too.
var colon = regexp.MustCompile(`^[ -]*(\w+): +[^ '"|>{\[][^#]*?:( |$)`)

// pinpoint moves an error of the YAML parser to the text that it is about: from an empty line to
// the line before, and to a colon that ends no key, as in expr: a ? b : c.
func pinpoint(lines []string, err error) error {
	var de *Error
	if !errors.As(err, &de) {
		return err
	}
	for de.Line > 1 && (de.Line > len(lines) || strings.TrimSpace(lines[de.Line-1]) == "") {
		de.Line--
	}
	if !strings.Contains(de.Reason, "mapping values are not allowed") || de.Line > len(lines) {
		return err
	}
	at := colon.FindStringSubmatchIndex(lines[de.Line-1])
	if at == nil {
		return err
	}
	end := at[1] - (at[5] - at[4]) - 1
	de.Col = utf8.RuneCountInString(lines[de.Line-1][:end]) + 1
	de.Reason = "to YAML the colon ends a key, because the text has no quotes"
	de.Hint = "put the text in quotes, or write " + lines[de.Line-1][at[2]:at[3]] + ": | and begin it in the next line"
	return err
}

// asWritten returns the text of a scalar with its quotes.
func asWritten(n *yaml.Node) string {
	switch {
	case n.Style&yaml.DoubleQuotedStyle != 0:
		return strconv.Quote(n.Value)
	case n.Style&yaml.SingleQuotedStyle != 0:
		return "'" + n.Value + "'"
	}
	return n.Value
}

// leadingZero refuses a number that is octal in YAML 1.1 and decimal in YAML 1.2.
func leadingZero(n *yaml.Node) error {
	digits := strings.TrimLeft(n.Value, "+-")
	if n.Kind != yaml.ScalarNode || n.Style != 0 || len(digits) < 2 || digits[0] != '0' || (digits[1] < '0' || digits[1] > '9') && digits[1] != '_' {
		return nil
	}
	return lineError(n, "the number %s begins with 0, which is octal to some readers and not to others; write %s", n.Value, lang.WithoutZeros(n.Value, digits))
}

// checkSwallowed refuses an expression in which a comment hides the lines after it: where YAML
// joins lines, the newline that should end the comment is gone.
func checkSwallowed(lines []string, n *yaml.Node) error {
	if n.Style&yaml.LiteralStyle != 0 || !strings.Contains(n.Value, "//") {
		return nil
	}
	at := places(lines, n)
	if at == nil {
		return nil
	}
	for _, c := range comments(n.Value) {
		for i := c[0]; i < c[1]; i++ {
			if at[i].line > at[c[0]].line && n.Value[i] != ' ' {
				return &Error{File: "document", Line: at[c[0]].line, Col: at[c[0]].column(lines), Width: 2,
					Reason: "the comment swallows the lines after it, because YAML joins them to one",
					Hint:   "write expr: | and begin the text in the next line, or /* ... */ for the comment"}
			}
		}
	}
	return nil
}

// comments returns the ranges of the // comments in an expression.
func comments(text string) (found [][2]int) {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case strings.HasPrefix(text[i:], "//"):
			end := len(text)
			if n := strings.IndexByte(text[i:], '\n'); n >= 0 {
				end = i + n
			}
			found = append(found, [2]int{i, end})
			i = end
		case strings.HasPrefix(text[i:], "/*"):
			n := strings.Index(text[i+2:], "*/")
			if n < 0 {
				return found
			}
			i += n + 3
		case c == '"' || c == '\'' || c == '`':
			for i++; i < len(text) && text[i] != c; i++ {
				if text[i] == '\\' && c != '`' {
					i++
				}
			}
		}
	}
	return found
}
