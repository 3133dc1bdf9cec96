package chroma_test

import (
	"bytes"
	"context"
	"strings"

	"github.com/alecthomas/chroma/v2/quick"
	"github.com/cocoon-go/cocoon/unseen/victim"
)

func init() {
	text := strings.Repeat("func f(a, b int) (string, error) {\n\t// a comment\n\treturn fmt.Sprintf(\"%d\\n\", a*b), nil\n}\n\n", 100)
	victim.Run(func(context.Context) (any, error) {
		var b bytes.Buffer
		err := quick.Highlight(&b, text, "go", "html", "github")
		return &b, err
	})
}
