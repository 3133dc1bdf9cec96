package pongo2_test

import (
	"context"

	"github.com/cocoon-go/cocoon/unseen/victim"
	"github.com/flosch/pongo2/v6"
)

func init() {
	const text = `{% for x in numbers %}{% if x|divisibleby:3 %}<b>{{ x|add:7|stringformat:"%05d" }}</b>{% else %}{{ word|upper|truncatechars:9 }}{% endif %}{% endfor %}`
	victim.Run(func(context.Context) (any, error) {
		template, err := pongo2.FromString(text)
		if err != nil {
			return nil, err
		}
		return template.Execute(pongo2.Context{"numbers": make([]int, 5000), "word": "<unseen words>"})
	})
}
