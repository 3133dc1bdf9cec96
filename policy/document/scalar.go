package document

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// place is the position in the document of a byte of a scalar's value: its line, from 1, and its
// byte in the line, from 0.
type place struct{ line, col int }

// column returns the column of a place, in characters from 1.
func (p place) column(lines []string) int {
	text := lines[p.line-1]
	return utf8.RuneCountInString(text[:min(p.col, len(text))]) + 1
}

// sourceLines splits a document into its lines, without their ends.
func sourceLines(text []byte) []string {
	lines := strings.Split(string(text), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimSuffix(l, "\r")
	}
	return lines
}

// places returns the position of each byte of the scalar n's value, and at the end the position
// where the value ends. The YAML parser reports only the beginning of a scalar, and an error in an
// expression comes after escapes, folds and indentation. It returns nil when it computes a
// different value than the parser.
func places(lines []string, n *yaml.Node) []place {
	if n.Kind != yaml.ScalarNode || n.Line < 1 || n.Line > len(lines) {
		return nil
	}
	if n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		return blockPlaces(lines, n)
	}
	t := tracer{lines: lines, want: len(n.Value), line: n.Line, col: byteColumn(lines[n.Line-1], n.Column)}
	t.begin = place{t.line, t.col}
	switch {
	case n.Style&yaml.DoubleQuotedStyle != 0:
		t.col++
		t.begin.col++
		t.flow(t.doubleQuoted)
	case n.Style&yaml.SingleQuotedStyle != 0:
		t.col++
		t.begin.col++
		t.flow(t.singleQuoted)
	default:
		t.flow(t.plain)
	}
	return t.done(n.Value)
}

// byteColumn returns the byte offset of a column in a line.
func byteColumn(line string, col int) int {
	for i := range line {
		if col--; col == 0 {
			return i
		}
	}
	return len(line)
}

// tracer reads a scalar as the YAML parser does, and records positions.
type tracer struct {
	lines []string
	want  int   // length of the value
	line  int   // from 1
	col   int   // bytes, from 0
	begin place // of the text
	value strings.Builder
	at    []place
}

func (t *tracer) here() string { return t.lines[t.line-1] }

// emit records that s stands at the byte offset col of the line.
func (t *tracer) emit(s string, line, col int) {
	for range len(s) {
		t.at = append(t.at, place{line, col})
	}
	t.value.WriteString(s)
}

// text emits bytes that the line contains literally.
func (t *tracer) text(s string, line, col int) {
	for i, r := range s {
		t.emit(string(r), line, col+i)
	}
}

func (t *tracer) full() bool { return t.value.Len() >= t.want }

// done returns the places, if the text read is the value.
func (t *tracer) done(value string) []place {
	if t.value.Len() < len(value) || t.value.String()[:len(value)] != value {
		return nil
	}
	at := t.at[:len(value):len(value)]
	end := t.begin
	if len(value) > 0 {
		end = at[len(value)-1]
		if _, n := utf8.DecodeRuneInString(t.lines[end.line-1][min(end.col, len(t.lines[end.line-1])):]); value[len(value)-1] != '\n' {
			end.col += n
		}
	}
	return append(at, end)
}

// flow reads a scalar other than a block: read emits the part in one line from t.col on, and
// reports whether the fold after it is escaped. Lines are joined by a space, and k empty lines
// between them are k newlines.
func (t *tracer) flow(read func(line string) (escaped bool)) {
	for {
		escaped := read(t.here())
		line, end := t.line, len(strings.TrimRight(t.here(), " \t"))
		empty := 0
		for t.line++; t.line <= len(t.lines) && strings.Trim(t.here(), " \t") == ""; t.line++ {
			empty++
		}
		if t.full() || t.line > len(t.lines) {
			return
		}
		if empty == 0 && !escaped {
			t.emit(" ", line, end)
		}
		t.emit(strings.Repeat("\n", empty), line, end)
		t.col = len(t.here()) - len(strings.TrimLeft(t.here(), " \t"))
	}
}

func (t *tracer) plain(line string) bool {
	t.text(strings.TrimRight(line[t.col:min(len(line), t.col+t.want-t.value.Len())], " \t"), t.line, t.col)
	return false
}

func (t *tracer) singleQuoted(line string) bool {
	line = strings.TrimRight(line, " \t")
	for i := t.col; i < len(line) && !t.full(); {
		r, n := utf8.DecodeRuneInString(line[i:])
		t.emit(line[i:i+n], t.line, i)
		if i += n; r == '\'' {
			i++ // the second of two
		}
	}
	return false
}

// escapes are the one-character escapes of YAML; escape handles the escapes with digits.
var escapes = map[byte]string{'0': "\x00", 'a': "\a", 'b': "\b", 't': "\t", '\t': "\t", 'n': "\n", 'v': "\v", 'f': "\f", 'r': "\r",
	'e': "\x1b", ' ': " ", '"': `"`, '\'': "'", '/': "/", '\\': `\`, 'N': "\u0085", '_': "\u00a0", 'L': "\u2028", 'P': "\u2029"}

func (t *tracer) doubleQuoted(line string) (escaped bool) {
	kept := strings.TrimRight(line, " \t")
	for i := t.col; i < len(kept) && !t.full(); {
		if kept[i] != '\\' {
			_, n := utf8.DecodeRuneInString(kept[i:])
			t.emit(kept[i:i+n], t.line, i)
			i += n
			continue
		}
		if i+1 == len(line) {
			return true
		}
		s, n := escape(line[i+1:])
		t.emit(s, t.line, i)
		i += 1 + n
	}
	return false
}

// escape decodes the escape after a backslash, and returns its length in bytes.
func escape(s string) (text string, n int) {
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[s[0]]
	if digits == 0 || len(s) <= digits {
		return escapes[s[0]], 1
	}
	r, err := strconv.ParseUint(s[1:1+digits], 16, 32)
	if err != nil {
		return "", 1
	}
	return string(rune(r)), 1 + digits
}

// blockPlaces is places for a scalar after | or >. The first line determines the indentation.
func blockPlaces(lines []string, n *yaml.Node) []place {
	first := n.Line
	for first < len(lines) && strings.Trim(lines[first], " ") == "" {
		first++
	}
	if first == len(lines) {
		return nil
	}
	before := n.Value[:len(n.Value)-len(strings.TrimLeft(n.Value, " \n"))]
	own := len(before) - strings.LastIndexByte(before, '\n') - 1 // spaces in the value
	indent := len(lines[first]) - len(strings.TrimLeft(lines[first], " ")) - own
	if indent < 0 {
		return nil
	}
	t := tracer{lines: lines, want: len(n.Value), line: n.Line}
	t.begin = place{n.Line, byteColumn(lines[n.Line-1], n.Column)}
	t.block(indent, n.Style&yaml.FoldedStyle != 0)
	return t.done(n.Value)
}

// block reads the lines of a block. A folded block joins lines by a space, except next to lines
// with further indentation.
func (t *tracer) block(indent int, folded bool) {
	empty, wasIndented, ended := 0, true, place{t.line, 0}
	for i := t.line; i < len(t.lines); i++ {
		line := t.lines[i]
		content := line[min(indent, len(line)):]
		if content == "" {
			empty++
			continue
		}
		if strings.TrimLeft(line[:indent], " ") != "" {
			break // after the block
		}
		indented := content[0] == ' ' || content[0] == '\t'
		switch breaks := empty; {
		case ended.col == 0: // before the first line
			t.emit(strings.Repeat("\n", breaks), i+1, 0)
		case !folded || wasIndented || indented:
			t.emit(strings.Repeat("\n", breaks+1), ended.line, ended.col)
		case breaks == 0:
			t.emit(" ", ended.line, ended.col)
		default:
			t.emit(strings.Repeat("\n", breaks), ended.line, ended.col)
		}
		if t.full() {
			return
		}
		t.text(content, i+1, len(line)-len(content))
		empty, wasIndented, ended = 0, indented, place{i + 1, len(line)}
		t.line = i + 1
	}
	t.emit(strings.Repeat("\n", empty+1), ended.line, ended.col)
}
