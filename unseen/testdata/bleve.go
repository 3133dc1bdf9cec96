package bleve_test

import (
	"context"
	"fmt"

	"github.com/blevesearch/bleve/v2"
	"github.com/cocoon-go/cocoon/unseen/victim"
)

func init() {
	text := victim.Text(200)
	var index bleve.Index
	victim.Run(func(ctx context.Context) (any, error) {
		if index == nil {
			i, err := bleve.NewMemOnly(bleve.NewIndexMapping())
			if err != nil {
				return nil, err
			}
			index = i
		}
		for i := range 5 {
			if err := index.Index(fmt.Sprint("document ", i), map[string]any{"text": text[i:], "number": i}); err != nil {
				return nil, err
			}
		}
		r, err := index.SearchInContext(ctx, bleve.NewSearchRequest(bleve.NewQueryStringQuery(`text:throw* +number:>=2`)))
		if err != nil {
			return nil, err
		}
		n, err := index.DocCount()
		return []uint64{r.Total, n}, err
	})
}
