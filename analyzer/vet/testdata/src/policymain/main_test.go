package main

import "github.com/cocoon-go/cocoon/cocoon"

// None of this is looked at, nor hides anything in the files that are no tests.
func refused(rt *cocoon.Runtime, p *cocoon.Policy, document interface{ Read([]byte) (int, error) }) {
	p.On, p.Expr = cocoon.OnEnqueue, "nonsense"
	use(cocoon.Policy{Name: "no name", Expr: "nonsense"}, rt.LoadPolicies(document), rt.RegisterSafeFunc)
}
