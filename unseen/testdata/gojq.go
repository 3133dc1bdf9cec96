package gojq_test

import (
	"context"

	"github.com/cocoon-go/cocoon/unseen/victim"
	"github.com/itchyny/gojq"
)

func init() {
	const query = `[range(4000) | {key: "k\(. * 7919 % 4000)", n: .}] | group_by(.n % 7) | map(map(.key) | sort | join(",") | length) | add`
	victim.Run(func(context.Context) (any, error) {
		q, err := gojq.Parse(query)
		if err != nil {
			return nil, err
		}
		v, _ := q.Run(nil).Next()
		if err, ok := v.(error); ok {
			return nil, err
		}
		return v, nil
	})
}
