package bleve_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/index/scorch"
	"github.com/cocoon-go/cocoon/unseen/victim"
)

func init() {
	index, err := bleve.NewUsing("", bleve.NewIndexMapping(), scorch.Name, scorch.Name, nil)
	if err != nil {
		panic(err)
	}
	words := strings.Fields(victim.Text(3000))
	victim.Run(func(ctx context.Context) (any, error) {
		batch := index.NewBatch()
		for i := range 100 {
			text := strings.Join(words[i*20:i*20+200], " ")
			if err := batch.Index(fmt.Sprint("document ", i), map[string]any{"text": text, "n": i}); err != nil {
				return nil, err
			}
		}
		if err := index.Batch(batch); err != nil {
			return nil, err
		}
		var hits []uint64
		for i := range 20 {
			query := bleve.NewQueryStringQuery(fmt.Sprintf("+text:%s text:qu* n:>%d", words[i], 2*i))
			request := bleve.NewSearchRequest(query)
			request.Highlight = bleve.NewHighlight()
			request.AddFacet("n", bleve.NewFacetRequest("text", 5))
			result, err := index.SearchInContext(ctx, request)
			if err != nil {
				return nil, err
			}
			hits = append(hits, result.Total)
		}
		count, err := index.DocCount()
		return append(hits, count), err
	})
}
