package proto_test

import (
	"context"
	"fmt"

	"github.com/cocoon-go/cocoon/unseen/victim"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
)

func init() {
	victim.Run(func(context.Context) (any, error) {
		all := map[string]any{}
		for i := range 1000 {
			all[fmt.Sprint("key ", i)] = []any{float64(i), fmt.Sprint(i), map[string]any{"odd": i%2 == 1}}
		}
		s, err := structpb.NewStruct(all)
		if err != nil {
			return nil, err
		}
		wire, err := proto.Marshal(s)
		if err != nil {
			return nil, err
		}
		var back structpb.Struct
		if err := proto.Unmarshal(wire, &back); err != nil {
			return nil, err
		}
		text, err := protojson.Marshal(&back)
		if err != nil {
			return nil, err
		}
		var again structpb.Struct
		err = protojson.Unmarshal(text, &again)
		return []any{len(wire), proto.Equal(s, &again)}, err
	})
}
