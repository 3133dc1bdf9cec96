package cocoonerr

import "github.com/cocoon-go/cocoon/cocoon"

func setUp(rt *cocoon.Runtime) {
	rt.RegisterSafeFunc("get")
}
