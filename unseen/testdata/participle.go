package participle_test

import (
	"context"
	"strings"

	"github.com/alecthomas/participle/v2"
	"github.com/cocoon-go/cocoon/unseen/victim"
)

type unseenList struct {
	Items []*unseenItem `parser:"'(' @@* ')'"`
}

type unseenItem struct {
	Number *int        `parser:"  @Int"`
	Word   *string     `parser:"| @Ident"`
	List   *unseenList `parser:"| @@"`
}

func (l *unseenList) sum() (n int) {
	for _, i := range l.Items {
		switch {
		case i.Number != nil:
			n += *i.Number
		case i.Word != nil:
			n += len(*i.Word)
		default:
			n += 3 * i.List.sum()
		}
	}
	return n
}

func init() {
	text := "(" + strings.Repeat("(add 1 (times 2 3 ()) word) ", 300) + ")"
	victim.Run(func(context.Context) (any, error) {
		parser, err := participle.Build[unseenList](participle.UseLookahead(2))
		if err != nil {
			return nil, err
		}
		l, err := parser.ParseString("", text)
		if err != nil {
			return nil, err
		}
		return l.sum(), nil
	})
}
