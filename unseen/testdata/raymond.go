package raymond_test

import (
	"context"

	"github.com/aymerick/raymond"
	"github.com/cocoon-go/cocoon/unseen/victim"
)

func init() {
	const text = `{{#each rows}}{{#if @first}}first{{/if}}<li>{{@index}} {{name}} {{#with other}}{{{deep}}}{{/with}}</li>{{else}}none{{/each}}`
	rows := make([]map[string]any, 1500)
	for i := range rows {
		rows[i] = map[string]any{"name": "<unseen>", "other": map[string]any{"deep": i}}
	}
	victim.Run(func(context.Context) (any, error) {
		return raymond.Render(text, map[string]any{"rows": rows})
	})
}
