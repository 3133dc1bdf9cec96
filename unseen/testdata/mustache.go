package mustache

import (
	"context"

	"github.com/cocoon-go/cocoon/unseen/victim"
)

func init() {
	rows := make([]map[string]any, 1500)
	for i := range rows {
		rows[i] = map[string]any{"name": "row <" + victim.Text(3) + ">", "even": i%2 == 0, "parts": []int{i, i + 1, i + 2}}
	}
	victim.Run(func(context.Context) (any, error) {
		t, err := ParseString("{{#rows}}{{name}}: {{#even}}even{{/even}}{{^even}}odd{{/even}} {{#parts}}{{.}},{{/parts}}\n{{/rows}}")
		if err != nil {
			return nil, err
		}
		return t.Render(map[string]any{"rows": rows})
	})
}
