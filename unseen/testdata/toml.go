package toml_test

import (
	"bytes"
	"context"
	"fmt"

	"github.com/BurntSushi/toml"
	"github.com/cocoon-go/cocoon/unseen/victim"
)

type unseenServer struct {
	Name  string
	Ports []int
	Limit map[string]float64
}

func init() {
	servers := map[string]unseenServer{}
	for i := range 1000 {
		servers[fmt.Sprintf("s%04d", i)] = unseenServer{fmt.Sprint("server ", i), []int{i, i + 1}, map[string]float64{"half": float64(i) / 2}}
	}
	victim.Run(func(context.Context) (any, error) {
		var b bytes.Buffer
		if err := toml.NewEncoder(&b).Encode(servers); err != nil {
			return nil, err
		}
		var back map[string]unseenServer
		size := b.Len()
		_, err := toml.NewDecoder(&b).Decode(&back)
		sum := 0
		for _, s := range back {
			sum += s.Ports[1] + len(s.Name) + int(2*s.Limit["half"])
		}
		return []int{size, sum}, err
	})
}
