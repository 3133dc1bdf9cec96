package jet_test

import (
	"bytes"
	"context"

	"github.com/CloudyKit/jet/v6"
	"github.com/cocoon-go/cocoon/unseen/victim"
)

// The set is shared, and caches templates under a lock.
var unseenSet *jet.Set

func init() {
	loader := jet.NewInMemLoader()
	loader.Set("layout", `<ul>{{ yield items() }}</ul>`)
	loader.Set("page", `{{ extends "layout" }}{{ block items() }}{{ range i, x := numbers }}<li>{{ i * 2 + x }} {{ word | upper }}</li>{{ include "part" }}{{ end }}{{ end }}`)
	loader.Set("part", `{{ if isset(word) }}{{ len(word) }}{{ end }}`)
	unseenSet = jet.NewSet(loader, jet.InDevelopmentMode())
	victim.Run(func(context.Context) (any, error) {
		template, err := unseenSet.GetTemplate("page")
		if err != nil {
			return nil, err
		}
		var b bytes.Buffer
		v := jet.VarMap{}.Set("numbers", make([]int, 1000)).Set("word", "<unseen>")
		return &b, template.Execute(&b, v, nil)
	})
}
