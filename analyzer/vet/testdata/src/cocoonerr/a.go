package cocoonerr

import (
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
)

func bad(rt *cocoon.Runtime, r *cocoon.Registration) {
	rt.RegisterTimeLimit(cocoon.TimeLimit{Func: "regex.match", Limit: time.Second}) // want `the error of Runtime.RegisterTimeLimit is not looked at: what it refuses is not in force`
	rt.RegisterPolicy(cocoon.Policy{})                                              // want `Runtime.RegisterPolicy`
	rt.RegisterDefaultPreemption(cocoon.OnEnqueue)                                  // want `Runtime.RegisterDefaultPreemption`
	rt.RegisterState(nil)                                                           // want `Runtime.RegisterState`
	rt.RegisterSafeFunc("get")                                                      // want `Runtime.RegisterSafeFunc`
	(rt.RegisterPreemptibleFunc("scan"))                                            // want `Runtime.RegisterPreemptibleFunc`
	rt.LoadPolicies(nil)                                                            // want `Runtime.LoadPolicies`
	r.Update(cocoon.Policy{})                                                       // want `Registration.Update`
	cocoon.RegisterPolicy(cocoon.Policy{})                                          // want `the error of RegisterPolicy`
	rt.LoadPolicyFile("a.yaml")                                                     // want `Runtime.LoadPolicyFile`
	rt.WatchPolicyFile(nil, "a.yaml")                                               // want `Runtime.WatchPolicyFile`
	if true {
		cocoon.RegisterState(nil) // want `RegisterState`
	}
	func() {
		cocoon.RegisterSafeFunc("get") // want `RegisterSafeFunc`
	}()
}

type server struct{ *cocoon.Runtime }

func embedded(s server) {
	s.RegisterSafeFunc("get") // want `Runtime.RegisterSafeFunc`
}

func good(rt *cocoon.Runtime, r *cocoon.Registration) error {
	if err := rt.RegisterSafeFunc("get"); err != nil {
		return err
	}
	_ = rt.RegisterState(nil)
	_, _ = rt.RegisterPolicy(cocoon.Policy{})
	reg, err := cocoon.RegisterPolicy(cocoon.Policy{})
	reg.Cancel()
	r.Cancel()
	rt.Run(nil, "task", nil) // a task's error may be of no interest
	RegisterState(nil)
	other{}.LoadPolicies()
	return err
}

// What is called like a registration of Cocoon, and is none.
type other struct{}

func (other) LoadPolicies() error        { return nil }
func RegisterState(map[string]any) error { return nil }
