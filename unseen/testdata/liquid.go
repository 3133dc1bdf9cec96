package liquid_test

import (
	"context"

	"github.com/cocoon-go/cocoon/unseen/victim"
	"github.com/osteele/liquid"
)

func init() {
	const text = `{% assign all = words | split: " " | sort %}{% for w in all %}{% if w contains "o" %}{{ w | upcase | append: "!" }}{% else %}{{ forloop.index }}{% endif %}{% endfor %}`
	words := victim.Text(3000)
	victim.Run(func(context.Context) (any, error) {
		return liquid.NewEngine().ParseAndRenderString(text, liquid.Bindings{"words": words})
	})
}
