package sqlparser

import (
	"context"
	"strings"

	"github.com/cocoon-go/cocoon/unseen/victim"
)

func init() {
	query := "select a.x, count(*) as n, case when b.y > 3 then 'big' else concat('s', b.z) end from a join b on a.id = b.id where a.x in (1, 2, 3) and (b.y between 4 and 5 or exists (select 1 from c where c.id = a.id)) group by a.x having n > 2 order by n desc limit 5, 10"
	victim.Run(func(context.Context) (any, error) {
		var b strings.Builder
		for range 200 {
			s, err := Parse(query)
			if err != nil {
				return nil, err
			}
			b.WriteString(String(s))
		}
		return b.String(), nil
	})
}
