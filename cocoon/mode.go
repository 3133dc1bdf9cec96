package cocoon

import (
	"fmt"
	"log/slog"
	"os"

	"github.com/cocoon-go/cocoon/notify"
	"github.com/cocoon-go/cocoon/policy"
)

// A policy has the greatest of three modes: its own, its document's and the runtime's. Each loop
// stores the mode of its policies under its lock, so that an evaluation has one mode from beginning
// to end.

// modeVariable sets the mode of runtimes. It is for operators of a server, because they cannot
// change its code.
const modeVariable = "COCOON_MODE"

func modeOfEnvironment() (Mode, error) {
	name := os.Getenv(modeVariable)
	if name == "" {
		return Enforce, nil
	}
	m, ok := policy.ModeNamed(name)
	if !ok {
		return m, fmt.Errorf("cocoon: the environment variable %s is %q; want enforce, observe or off", modeVariable, name)
	}
	return m, nil
}

// SetMode sets the mode of all policies of the runtime, including those registered later. With
// Observe all of them are dry runs, with Off they are not evaluated, and with Enforce each has its
// own mode. When SetMode returns, no evaluation with another mode is in progress. The initial mode
// comes from the environment variable COCOON_MODE, or is Enforce.
func (rt *Runtime) SetMode(m Mode) error {
	if err := m.Validate(); err != nil {
		return fmt.Errorf("cocoon: %w", err)
	}
	rt.regMu.Lock()
	defer rt.regMu.Unlock()
	if rt.mode == m {
		return nil
	}
	rt.mode = m
	rt.tellMode()
	rt.decisions.add(sortChange, &Decision{Kind: DecisionMode, Mode: m, Reason: "all policies"})
	var all []*version
	for _, r := range rt.policies {
		all = append(all, r.now)
	}
	rt.remode(all...)
	return nil
}

// Mode returns the mode of all policies of the runtime, see SetMode.
func (rt *Runtime) Mode() Mode {
	rt.regMu.Lock()
	defer rt.regMu.Unlock()
	return rt.mode
}

func (rt *Runtime) tellMode() {
	if rt.modeLogs.due(notify.Now()) {
		rt.log.add(slog.LevelInfo, "cocoon: mode of all policies", "mode", rt.mode.String())
	}
}

// Policy returns the registration of the named policy, if it is in force, even if a document has
// registered it, or nil if there is none. A change to a document's policy lasts until the document
// is loaded again with a different version of that policy.
func (rt *Runtime) Policy(name string) *Registration {
	rt.regMu.Lock()
	defer rt.regMu.Unlock()
	return rt.policies[name]
}

// SetMode sets the mode of the policy, and leaves its counters, states and ticks as they are. When
// it returns, no evaluation with another mode is in progress. What the policy wrote in observe mode
// is discarded.
func (r *Registration) SetMode(m Mode) error {
	if err := m.Validate(); err != nil {
		return fmt.Errorf("cocoon: policy %q: %w", r.name, err)
	}
	r.rt.regMu.Lock()
	defer r.rt.regMu.Unlock()
	if r.rt.policies[r.name] != r {
		return fmt.Errorf("cocoon: policy %q: %w", r.name, ErrGone)
	}
	if r.now.own != m {
		r.now.own = m
		r.rt.remode(r.now)
		r.now.changed(DecisionMode, m, "")
	}
	return nil
}

// remode puts the modes of versions in force. Called with regMu held.
func (rt *Runtime) remode(versions ...*version) {
	for _, l := range *rt.loops.Load() {
		l.lockAll()
		changed := false
		for _, v := range versions {
			if b := v.on(l); b != nil {
				changed = b.setMode(v.mode()) || changed
			}
		}
		if changed {
			l.rearm()
		}
		l.unlock()
	}
}
