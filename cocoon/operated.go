package cocoon

import "github.com/cocoon-go/cocoon/internal/inside"

func init() {
	inside.Operated = operated
	inside.LoadSeen = func(runtime any, name string, seen func(text [32]byte, changes []string) error) error {
		return runtime.(*Runtime).loadSeen(name, seen)
	}
}

// loadSeen is inside.LoadSeen.
func (rt *Runtime) loadSeen(name string, seen func(text [32]byte, changes []string) error) error {
	rt.loadMu.Lock()
	defer rt.loadMu.Unlock()
	path, doc, text, err := readPolicyFile(name, true)
	var changes []PolicyChange
	if err == nil {
		changes, err = rt.checkLoad(doc, path, name)
	}
	if err != nil {
		return inFile(err, name)
	}
	texts := make([]string, len(changes))
	for i, c := range changes {
		texts[i] = c.String()
	}
	if err := seen(text, texts); err != nil {
		return err
	}
	err = inFile(rt.load(doc, path, name, text), name)
	rt.countLoad(path, name, err)
	return rt.tellLoad(name, err)
}

// operated is inside.Operated.
func operated(runtime, task any, policy, file, what string) {
	d := Decision{Kind: DecisionAction, Policy: policy, File: file, Reason: cutText(what, maxDecisionText)}
	if t, ok := task.(*Task); ok && t != nil {
		d.Task, d.Loop = t.shortPath(), t.Loop().Name()
	}
	runtime.(*Runtime).decisions.add(sortChange, &d)
}
