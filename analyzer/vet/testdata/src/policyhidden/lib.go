// Package policyhidden registers with the default runtime, and tells nothing of that in its API.
package policyhidden

import "github.com/cocoon-go/cocoon/cocoon"

func Init() error { return cocoon.RegisterState(map[string]any{"hidden": false}) }
