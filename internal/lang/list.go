package lang

import (
	"fmt"
	"slices"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser/lexer"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// Bounds of the lists in x in [...]; the rest of a text has its own bounds.
const (
	MaxListText  = 1 << 20 // bytes of a text with its lists
	MaxConstants = 16384   // elements of all lists of a policy
)

// maxChain is the greatest length of a list whose elements are compared one by one: for short lists
// this is as fast as a look-up, and gives the verifier more information.
const maxChain = 8

// inList lowers x in a list.
func (l *lowerer) inList(n *ast.BinaryNode, list *ast.ArrayNode, x value) *ir.Node {
	if len(list.Nodes) == 0 {
		l.refuse(list, "name at least one element", "the list is empty")
	}
	if l.constants += len(list.Nodes); l.constants > MaxConstants {
		l.refuse(list, manyConstants, "the policy has more than %d constants in its lists", MaxConstants)
	}
	t, has := x.node.Type, map[uint64]bool{}
	again := func(e value) bool {
		word := e.node.Imm
		if has[word] {
			l.prog.Repeats = append(l.prog.Repeats, [2]int{e.node.Pos, e.node.End})
			return true
		}
		has[word] = true
		return false
	}
	if len(list.Nodes) <= maxChain || t != stubs.Name && !t.Integral() {
		var equal []*ir.Node
		for _, en := range list.Nodes {
			if left, e := l.listed(n, en, x); !again(e) {
				equal = append(equal, l.folded(en, ir.OpEq, stubs.Bool, left.node, e.node))
			}
		}
		return l.either(n, equal)
	}
	set := ir.Set{Type: t}
	for _, en := range list.Nodes {
		nodes := l.nodes // a constant of a set is not an operation
		if _, e := l.listed(n, en, x); !again(e) {
			set.Words = append(set.Words, e.node.Imm)
		}
		l.nodes = nodes
	}
	slices.Sort(set.Words)
	in := l.node(n, ir.OpIn, stubs.Bool, l.name(n.Left, l.use(n.Left, x)).node)
	if in.A.Op == ir.OpConst {
		return l.constant(n, stubs.Bool, stubs.FromBool(set.Has(in.A.Imm)))
	}
	in.Index = len(l.prog.Sets)
	l.prog.Sets = append(l.prog.Sets, set)
	return in
}

// listed lowers an element of a list, and another use of x, which is compared with it.
func (l *lowerer) listed(n *ast.BinaryNode, en ast.Node, x value) (left, e value) {
	e = l.value(en)
	if !e.constant() {
		l.refuse(en, "write x == y", "a list holds constants, and %s is %s", l.excerpt(en), describe(e))
	}
	left = l.use(n.Left, x)
	e, left = l.adapt(en, e, left), l.adapt(n.Left, left, e)
	if e.node.Type != left.node.Type {
		l.mismatch(en, n.Left, left, en, e)
	}
	l.checkKind(en, x, e)
	return l.name(n.Left, left), l.name(en, e)
}

// either joins conditions by or, in a balanced tree, so that long lists stay shallow.
func (l *lowerer) either(n ast.Node, conditions []*ir.Node) *ir.Node {
	if len(conditions) == 1 {
		return conditions[0]
	}
	half := len(conditions) / 2
	return l.node(n, ir.OpOr, stubs.Bool, l.either(n, conditions[:half]), l.either(n, conditions[half:]))
}

// perConstant is the greatest number of tokens of a constant in a list: duration("1s"), has five.
const perConstant = 5

// manyConstants is the hint for lists that are too long.
const manyConstants = "split it into several policies, or give the tasks a label that says it"

// checkSize refuses texts too long to be split into tokens. It measures the text outside brackets,
// which in a policy hold lists and short keys, and counts the words inside. The count is rough;
// countTokens decides close to the bound.
func checkSize(text string) *ir.Error {
	tooLong := func(bytes, allowed int) *ir.Error {
		return ir.NewError(text[:MaxText], MaxText, MaxText, "split it into several policies",
			fmt.Sprintf("the policy has %d bytes, and %d are allowed", bytes, allowed))
	}
	if len(text) > MaxListText {
		return tooLong(len(text), MaxListText)
	}
	outside, inside, depth := 0, 0, 0
	for i, inWord := 0, false; i < len(text); {
		end := i + spanAt(text[i:])
		switch text[i] {
		case '[':
			depth++
		case ']':
			depth = max(0, depth-1)
		}
		was := inWord
		inWord = wordByte(text[i])
		switch {
		case depth == 0:
			outside += end - i
		case text[i] > ' ' && !(was && inWord):
			inside++
		}
		i = end
	}
	switch {
	case outside > MaxText:
		return tooLong(outside, MaxText)
	case inside > 2*MaxTokens+perConstant*MaxConstants:
		return ir.NewError(text, 0, 0, manyConstants, fmt.Sprintf("the policy has more than %d constants in its lists", MaxConstants))
	}
	return nil
}

// wordByte reports whether a byte is part of a word or a number.
func wordByte(b byte) bool {
	return b == '_' || b == '.' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= 0x80
}

// spanAt returns the length of the string or comment at the beginning of the text; 1 if there is
// none.
func spanAt(text string) int {
	ends := func(from int, closing string) int {
		for i := from; i < len(text); i++ {
			switch {
			case text[i] == '\\' && (closing == `"` || closing == "'"):
				i++
			case len(text)-i >= len(closing) && text[i:i+len(closing)] == closing:
				return i + len(closing)
			}
		}
		return len(text)
	}
	switch {
	case text[0] == '"', text[0] == '\'', text[0] == '`':
		return ends(1, text[:1])
	case len(text) > 1 && text[:2] == "/*":
		return ends(2, "*/")
	case len(text) > 1 && text[:2] == "//":
		return ends(2, "\n")
	}
	return 1
}

// countTokens counts the tokens other than constants of lists, and refuses more than MaxTokens, or
// more constants than any list may have.
func (s *source) countTokens() *ir.Error {
	rest, constants := 0, 0
	inside := 0 // the closing bracket of the current list
	for i, t := range s.tokens {
		switch {
		case i < inside && s.ofConstant(i):
			constants++
		default:
			rest++
		}
		if i > 0 && i >= inside && t.Is(lexer.Bracket, "[") && s.tokens[i-1].Is(lexer.Operator, "in") {
			inside = s.match[i]
		}
		if rest > MaxTokens {
			return s.errorAt(t.Location, "split it into several policies", "the policy has more than %d words and operators", MaxTokens)
		}
	}
	if constants > perConstant*MaxConstants {
		return s.errorAt(s.tokens[len(s.tokens)-1].Location, manyConstants,
			"the policy has more than %d constants in its lists", MaxConstants)
	}
	return nil
}

// ofConstant reports whether token i of a list is part of a constant or separates two constants.
func (s *source) ofConstant(i int) bool {
	t := s.tokens[i]
	switch {
	case t.Kind == lexer.String, t.Kind == lexer.Number, t.Is(lexer.Operator, ","):
		return true
	case t.Is(lexer.Operator, "-"):
		return s.tokens[i-1].Is(lexer.Operator, ",") || s.tokens[i-1].Is(lexer.Bracket, "[")
	case t.Is(lexer.Identifier, "duration"), t.Is(lexer.Identifier, "bytes"):
		return true
	case t.Is(lexer.Bracket, "("):
		return s.tokens[i-1].Kind == lexer.Identifier && s.match[i] == i+2
	case t.Is(lexer.Bracket, ")"):
		return s.match[i] == i-2
	}
	return false
}
