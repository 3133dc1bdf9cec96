package document

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// Format returns a document, or a file of tests, in the canonical layout: indented by two, without
// trailing spaces, and with at most one empty line between two lines. Comments, order and quotes
// stay, and so does the meaning: where Format could change it, for example in a quoted text with
// significant spaces, it returns an error. Format also accepts documents that Read would
// refuse, as long as their YAML is allowed in documents.
func Format(text []byte) ([]byte, error) {
	lines, root, err := readSource(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	f := formatter{lines: lines, begins: map[int]beginning{}, blocks: map[int]block{}}
	f.node(root, 0, 0, "")
	f.order = slices.Sorted(maps.Keys(f.begins))
	out := []byte(f.text())
	_, after, err := readSource(bytes.NewReader(out))
	if err != nil || !alike(root, after, "") {
		return nil, errors.New("document: it cannot be indented without a change to what it means; indent it by two by hand")
	}
	return out, nil
}

// formatter computes new indentation. Lines count from 1, and columns from 0.
type formatter struct {
	lines  []string
	order  []int             // the lines of begins
	begins map[int]beginning // lines in which a key, an element or a value of the structure begins
	blocks map[int]block     // lines of texts after | and >
}

// beginning is the column where a line's own text begins, and its new prefix.
type beginning struct {
	was    int
	prefix string
}

// block is the indentation of a text.
type block struct {
	was, is int
	trim    bool // spaces at the end of the line mean nothing
}

// node records the lines of n, with the new column col; key is the key of a value, with the old
// column was.
func (f *formatter) node(n *yaml.Node, col, was int, key string) {
	switch {
	case n.Kind == yaml.ScalarNode && n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		f.block(n, col, was, key == "expr")
	case n.Style&yaml.FlowStyle != 0 || n.Kind == yaml.ScalarNode:
	case n.Kind == yaml.MappingNode:
		for i := 0; i < len(n.Content); i += 2 {
			k, v := n.Content[i], n.Content[i+1]
			f.begin(k.Line, k.Column-1, strings.Repeat(" ", col))
			f.node(v, col+2, k.Column-1, k.Value)
		}
	case n.Kind == yaml.SequenceNode:
		for _, item := range n.Content {
			dash, line := f.dash(item)
			f.begin(line, dash, strings.Repeat(" ", col))
			if at := item.Column - 1; line == item.Line {
				f.begins[line] = beginning{at, strings.Repeat(" ", col) + "- "}
			} else if item.Kind == yaml.ScalarNode || item.Style&yaml.FlowStyle != 0 {
				f.begin(item.Line, at, strings.Repeat(" ", col+2))
			}
			f.node(item, col+2, dash, "")
		}
	}
}

// begin records a beginning, unless a dash precedes it in the line.
func (f *formatter) begin(line, was int, prefix string) {
	if _, ok := f.begins[line]; !ok {
		f.begins[line] = beginning{was, prefix}
	}
}

// dash finds the dash of an element: before it, or in a line above.
func (f *formatter) dash(item *yaml.Node) (col, line int) {
	for line = item.Line; line > 0; line-- {
		text := f.lines[line-1]
		if line == item.Line {
			text = text[:byteColumn(text, item.Column)]
		}
		if col = len(text) - len(strings.TrimLeft(text, " ")); strings.HasPrefix(text[col:], "-") {
			return col, line
		}
	}
	return 0, item.Line
}

// block records the lines of a text whose key, or dash, stands at the column was.
func (f *formatter) block(n *yaml.Node, col, was int, trim bool) {
	header := f.lines[n.Line-1][byteColumn(f.lines[n.Line-1], n.Column):]
	b := block{was: -1, is: col, trim: trim}
	if i := strings.IndexAny(header, "123456789"); i == 1 || i == 2 {
		b.was, b.is = was+int(header[i]-'0'), col-2+int(header[i]-'0')
	}
	last := n.Line
	for line := n.Line + 1; line <= len(f.lines); line++ {
		text := f.lines[line-1]
		indent := len(text) - len(strings.TrimLeft(text, " "))
		if strings.TrimSpace(text) == "" {
			continue
		}
		if b.was < 0 && indent > was {
			b.was = indent
		}
		if b.was < 0 || indent < b.was {
			break
		}
		last = line
	}
	if strings.Contains(strings.SplitN(header, "#", 2)[0], "+") {
		for last < len(f.lines) && strings.TrimSpace(f.lines[last]) == "" {
			last++ // the empty lines after it belong to it
		}
	}
	for line := n.Line + 1; line <= last; line++ {
		f.blocks[line] = b
	}
}

// text returns the formatted lines.
func (f *formatter) text() string {
	var out []string
	above := map[int]int{} // old columns of lines -> new columns
	moved := 0             // the shift of the line that a continuation belongs to
	for i, text := range f.lines {
		line := i + 1
		if b, ok := f.blocks[line]; ok {
			content := text[min(max(b.was, 0), len(text)):]
			if b.trim {
				content = strings.TrimRight(content, " \t")
			}
			if content != "" {
				content = strings.Repeat(" ", b.is) + content
			}
			out = append(out, content)
			continue
		}
		text = strings.TrimRight(text, " \t")
		indent := len(text) - len(strings.TrimLeft(text, " \t"))
		begin, begins := f.begins[line]
		switch {
		case text == "":
			if len(out) > 0 && out[len(out)-1] != "" {
				out = append(out, "")
			}
		case begins:
			moved = len(begin.prefix) - begin.was
			above[indent], _ = f.moves(line, 0)
			out = append(out, begin.prefix+text[byteColumn(text, begin.was+1):])
		case text[indent] == '#':
			out = append(out, strings.Repeat(" ", f.comment(line, indent, above))+text[indent:])
		default:
			out = append(out, strings.Repeat(" ", max(0, indent+moved))+text[indent:])
		}
	}
	return strings.TrimRight(strings.Join(out, "\n"), "\n") + "\n"
}

// comment returns the column of a comment: the column of the next line that begins something, if
// both had the same column, or else of the last such line above.
func (f *formatter) comment(line, was int, above map[int]int) int {
	i, _ := slices.BinarySearch(f.order, line)
	below, beside := 0, false
	if i < len(f.order) {
		below, beside = f.moves(f.order[i], was)
	}
	if col, ok := above[was]; ok && !beside {
		return col
	}
	return below
}

// moves returns the new column of a line that begins something, and whether it stood at the column
// was.
func (f *formatter) moves(line, was int) (is int, stood bool) {
	prefix, text := f.begins[line].prefix, f.lines[line-1]
	return len(prefix) - len(strings.TrimLeft(prefix, " ")), len(text)-len(strings.TrimLeft(text, " ")) == was
}

// alike reports whether two texts have the same meaning: equal values, with the same comments.
// Spaces at the ends of an expression's lines do not count.
func alike(a, b *yaml.Node, key string) bool {
	x, y := a.Value, b.Value
	if key == "expr" {
		x, y = trimLines(x), trimLines(y)
	}
	if a.Kind != b.Kind || a.Style != b.Style || a.ShortTag() != b.ShortTag() || x != y || len(a.Content) != len(b.Content) {
		return false
	}
	for i := range a.Content {
		key := ""
		if a.Kind == yaml.MappingNode && i%2 == 1 {
			key = a.Content[i-1].Value
		}
		if !alike(a.Content[i], b.Content[i], key) {
			return false
		}
	}
	return true
}

func trimLines(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " \t")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}
