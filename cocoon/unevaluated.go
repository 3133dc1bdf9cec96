package cocoon

import (
	"errors"

	"github.com/cocoon-go/cocoon/analyzer"
	"github.com/cocoon-go/cocoon/policy/document"
	"github.com/cocoon-go/cocoon/stubs"
)

// unevaluated returns warnings about policies that have not been evaluated, because none of their
// events has happened: tasks wait without Block, or nothing calls Notify. Named events are among
// the unmet names. Called with regMu held.
func (rt *Runtime) unevaluated() (all []analyzer.Remark) {
	for name, v := range rt.switchedOn() {
		on := v.verified.Program().On
		if v.of.stats.evaluations.Load() > 0 || v.part != nil || v.spec.On.Custom != "" {
			continue
		}
		why := ""
		switch met, _, _ := rt.suspends(v); {
		case on == stubs.Custom:
			why = "no custom event has come so far; Notify raises them"
		case on&^(stubs.Block|stubs.Unblock) == 0 && met:
			why = "none of the tasks that have come has waited in Block so far; a wait outside of Block raises no event"
		default:
			continue
		}
		all = append(all, analyzer.Remark{Part: document.Part{Kind: "policy", Name: name}, Err: errors.New("the policy has not been evaluated: " + why)})
	}
	return all
}
