package cbor_test

import (
	"context"
	"fmt"

	"github.com/cocoon-go/cocoon/unseen/victim"
	"github.com/fxamacker/cbor/v2"
)

type unseenRecord struct {
	ID    int
	Name  string
	Tags  []string
	Other map[string]float64
	Next  *unseenRecord
}

func init() {
	var all []unseenRecord
	for i := range 3000 {
		r := unseenRecord{ID: i, Name: fmt.Sprint("record ", i), Tags: []string{"a", "b", fmt.Sprint(i)}}
		r.Other = map[string]float64{"half": float64(i) / 2}
		r.Next = &unseenRecord{ID: -i}
		all = append(all, r)
	}
	victim.Run(func(context.Context) (any, error) {
		packed, err := cbor.Marshal(all)
		if err != nil {
			return nil, err
		}
		var back []unseenRecord
		err = cbor.Unmarshal(packed, &back)
		sum := len(packed)
		for _, r := range back {
			sum += r.ID - r.Next.ID + len(r.Name) + len(r.Tags[2]) + int(2*r.Other["half"])
		}
		return sum, err
	})
}
