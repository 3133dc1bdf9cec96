package policytest

import "testing"

// A test that passes whatever the policies say.
func TestVacuousTests(t *testing.T) {
	const document = `version: 1
tenants: {label: org}
states: {n: 0, spent: {first: 0, keys: 9}, hours: {first: 0, keys: 24, by: int}}
policies:
  - {name: dry, on: enqueue, mode: observe, match: {tasks: [dry, both]}, expr: 'arriving.labels.tier == "free" ? throw("dry") : add("n", 1)'}
  - {name: wet, on: enqueue, match: {tasks: [wet, both]}, expr: 'arriving.priority < 0 ? throw("wet") : continue()'}
  - {name: spend, on: exit, expr: 'add("spent", tenant.name, 1); add("spent", "all", 1); add("hours", clock.hour, 1)'}
  - {name: slow, every: 1ms, expr: 'task.running > duration("1s") and task.labels.tier == "free" ? throw("slow") : continue()'}
`
	const observes, sides = "all policies that are asked are in mode observe, and decide nothing", "no policy that is evaluated on "
	for _, c := range []struct{ name, events, want string }{
		{"a verdict of observers", `{at: 0s, on: enqueue, given: {arriving.name: dry}, expect: continue()}`, observes},
		{"a state of observers", `{at: 0s, on: enqueue, given: {arriving.name: dry}, expect: {states: {n: 0}}}`, observes},
		{"both, said", `{at: 0s, on: enqueue, given: {arriving.name: dry}, expect: {states: {n: 0}, observed: {states: {n: 1}}}}`, ""},
		{"one of two observes", `{at: 0s, on: enqueue, given: {arriving.name: both}, expect: continue()}`, ""},
		{"a state that nothing writes", `{at: 0s, on: tick, expect: {states: {n: 0}}}`, "no policy that is evaluated on tick writes the state n, so it keeps its value"},
		{"a state that an event wrote", `{at: 0s, on: exit, given: {tenant.name: a}, expect: {states: {spent: {a: 1}}}}, {at: 1s, on: tick, expect: {states: {spent: {a: 1}}}}`, ""},
		{"no observers", `{at: 0s, on: enqueue, given: {arriving.name: wet}, expect: {observed: continue()}}`, "no policy that is asked is in mode observe"},
		{"an absent switch", `{at: 0s, on: enqueue, given: {arriving.name: wet}, times: 3, expect: {counts: {switch(): 0}}}`, "no policy says switch()"},
		{"a label of the other task", `{at: 0s, on: tick, given: {arriving.labels: {tier: free}}, expect: continue()}`, sides + `tick reads arriving.labels["tier"]; give task.labels["tier"]`},
		{"a label for a later event", `{at: 0s, on: tick, given: {arriving.labels: {tier: free}}, expect: continue()}, {at: 1s, on: enqueue, given: {arriving.name: dry}, expect: {observed: throw("dry")}}`, ""},
		{"a name of the other task", `{at: 0s, on: enqueue, given: {task.name: wet}, expect: {asked: []}}`, sides + "enqueue reads task.name; give arriving.name"},
		{"the tenant of the other task", `{at: 0s, on: exit, given: {arriving.labels: {org: gold}}, expect: {asked: [spend]}}`, sides + `exit reads arriving.labels["org"]; give task.labels["org"]`},
		{"a key", `{at: 0s, on: exit, given: {task.labels: {org: gold}}, expect: {states: {spent: {gold: 1, tin: 0}}}}`, ""},
		{"another key", `{at: 0s, on: exit, given: {task.labels: {org: gold}}, expect: {states: {spent: {glod: 0}}}}`, "the test gives none of these keys of the state spent to a task, and no policy has them"},
		{"a constant key", `{at: 0s, on: exit, expect: {states: {spent: {all: 1}}}}`, ""},
		{"a given key", `{at: 0s, on: exit, given: {state.spent: {tin: 3}, task.labels: {org: tin}}, expect: {states: {spent: {tin: 4}}}}`, ""},
		{"a given key of no task", `{at: 0s, on: exit, given: {state.spent: {tin: 3}, task.labels: {org: gold}}, expect: {states: {spent: {tin: 3}}}}`,
			"4:52: no evaluation of the test reads or writes any of these keys of the state spent, so their values change nothing"},
		{"a given key of a later task", `{at: 0s, on: exit, given: {state.spent: {tin: 3}, task.labels: {org: gold}}, expect: continue()}, {at: 1s, on: exit, given: {task.labels: {org: tin}}, expect: {states: {spent: {tin: 4}}}}`, ""},
		{"a number", `{at: 0s, on: exit, expect: {states: {hours: {0: 1, 7: 0}}}}`, ""},
		{"effects of policies without any", `{at: 0s, on: enqueue, given: {arriving.name: wet}, expect: {effects: []}}`, "effects: [] holds whatever the policies decide, because no policy that is asked has an effect; expect a verdict"},
		{"effects and a verdict", `{at: 0s, on: enqueue, given: {arriving.name: wet}, expect: {verdict: continue(), effects: []}}`, ""},
		{"nobody at all", `{at: 0s, on: enqueue, given: {arriving.name: wte}, expect: {asked: []}}`, "4:5: the tests evaluate none of the policies: all events are about other tasks, loops or events"},
		{"nobody at first", `{at: 0s, on: enqueue, given: {arriving.name: wte}, expect: {asked: []}}, {at: 1s, on: enqueue, given: {arriving.name: wet}, expect: continue()}`, ""},
		{"another number", `{at: 0s, on: exit, expect: {states: {hours: {7: 0}}}}`, "no evaluation of the test reads or writes any of these keys of the state hours, so they keep their values"},
	} {
		t.Run(c.name, func(t *testing.T) {
			says(t, c.name, told(t, document, "tests:\n  - {name: it, events: ["+c.events+"]}\n"), c.want)
		})
	}
}

// Values that no server has together.
func TestGivenTogether(t *testing.T) {
	const document = `version: 1
policies:
  - {name: p, on: enqueue, expr: 'queue.oldest > duration("1s") and queue.length < 3 or class.busy > 3 and class.tasks < 9 or loop.busy > 3 and loop.slots < 9 or runtime.tasks > 99 ? throw("x") : continue()'}
  - {name: q, every: 1ms, expr: 'task.running > duration("1s") and task.elapsed < duration("9s") or queue.wait(0.5) > duration("1s") and queue.wait(0.99) < duration("9s") ? throw("x") : continue()'}
  - {name: r, on: [start, block], expr: 'task.waited > duration("1s") ? throw("slow") : continue()'}
  - {name: s, on: block, expr: 'task.elapsed > duration("9s") ? throw("slow") : continue()'}
`
	for _, c := range []struct{ name, events, want string }{
		{"more that run than there are", `{at: 0s, on: enqueue, given: {class.busy: 4, class.tasks: 2}, expect: throw("x")}`,
			"no server has class.busy 4 and class.tasks 2 together: class.tasks counts the tasks that run, too"},
		{"some that run", `{at: 0s, on: enqueue, given: {class.busy: 4, class.tasks: 4}, expect: throw("x")}`, ""},
		{"one of two given", `{at: 0s, on: enqueue, given: {class.busy: 4}, expect: throw("x")}`, ""},
		{"an empty queue that waits", `{at: 0s, on: enqueue, given: {queue.oldest: 5s, queue.length: 0}, expect: throw("x")}`, "no server has queue.oldest 5s and queue.length 0 together: no task waits"},
		{"slots that were taken away", `{at: 0s, on: enqueue, given: {loop.busy: 4, loop.slots: 2}, expect: throw("x")}`, ""},
		{"longer than it is there", `{at: 0s, on: tick, given: {task.running: 5s, task.elapsed: 1s}, expect: throw("x")}`, "no server has task.running 5s and task.elapsed 1s together"},
		{"what two policies read", `{at: 0s, on: block, given: {task.waited: 5s, task.elapsed: 1s}, expect: throw("slow")}`, "no server has task.waited 5s and task.elapsed 1s together"},
		{"what one policy of the event reads", `{at: 0s, on: start, given: {task.waited: 1s}, expect: continue()}`, ""},
		{"more of a name than there are", `{at: 0s, on: enqueue, given: {class.tasks: 9, runtime.tasks: 3}, expect: continue()}`, "no server has class.tasks 9 and runtime.tasks 3 together: runtime.tasks counts the tasks of all names"},
		{"quantiles", `{at: 0s, on: tick, given: {queue.wait: {0.5: 5s, 0.99: 2s}}, expect: throw("x")}`, "no server has queue.wait(0.5) 5s and queue.wait(0.99) 2s together"},
	} {
		t.Run(c.name, func(t *testing.T) {
			says(t, c.name, told(t, document, "tests:\n  - {name: it, events: ["+c.events+"]}\n"), c.want)
		})
	}
}

// Keys that are pairs, and expectations about tasks that no server has.
func TestUnlikelyExpectations(t *testing.T) {
	const document = `version: 1
tenants: {label: org}
tasks: {fixed: {kind: safe}}
states: {n: {first: 0, keys: 9, by: [name, name]}}
policies:
  - {name: count, on: enqueue, expr: 'add("n", arriving.labels.user, arriving.name, 1)'}
  - {name: share, on: enqueue, expr: 'tenant.tasks > 9 and tenant.name != "gold" ? throw("share") : continue()'}
  - {name: slice, every: 1ms, expr: 'task.slice > duration("10ms") ? switch() : continue()'}
`
	const pair = `arriving.name: GET /, arriving.labels: {user: bob`
	const kept, fixed = "no evaluation of the test reads or writes any of these keys of the state n", "and this task is "
	for _, c := range []struct{ name, events, want string }{
		{"a pair", `{at: 0s, on: enqueue, given: {` + pair + `}}, expect: {states: {n: {bob: {GET /: 1, POST /: 0}}}}}`, ""},
		{"a pair misspelt", `{at: 0s, on: enqueue, given: {` + pair + `}}, expect: {states: {n: {bobo: {GET /: 0}}}}}`, "4:126: " + kept},
		{"a pair misspelt, given", `{at: 0s, on: enqueue, given: {` + pair + `}, state.n: {bbo: {GET /: 4}}}, expect: continue()}`, kept + ", so their values change nothing"},
		{"a pair the other way round", `{at: 0s, on: enqueue, given: {` + pair + `}}, expect: {states: {n: {GET /: {bob: 0}, bob: {GET /: 1}}}}}`,
			`reads or writes the key "GET /", "bob" of the state n, but the one with its parts the other way round`},

		{"another tenant than the label", `{at: 0s, on: enqueue, given: {` + pair + `, org: beta}, tenant.name: acme}, expect: continue()}`, `tenant.name is "acme" and arriving.labels["org"] is "beta": no server has both`},
		{"the tenant of the label", `{at: 0s, on: enqueue, given: {` + pair + `, org: acme}, tenant.name: acme}, expect: continue()}`, ""},
		{"a tenant without an account", `{at: 0s, on: enqueue, given: {` + pair + `, org: acme}, tenant.name: other}, expect: continue()}`, ""},

		{"a switch of an atomic task", `{at: 0s, on: tick, given: {task.kind: atomic, task.slice: 20ms}, expect: switch()}`, fixed + "atomic: on a server it goes on"},
		{"a switch of a declared task", `{at: 0s, on: tick, given: {task.name: fixed, task.slice: 20ms}, expect: {counts: {switch(): 1}}}`, fixed + "safe"},
		{"a switch of a preemptible task", `{at: 0s, on: tick, given: {task.kind: both, task.slice: 20ms}, expect: switch()}`, ""},
		{"a switch of any task", `{at: 0s, on: tick, given: {task.slice: 20ms}, expect: switch()}`, ""},

		{"no states", `{at: 0s, on: tick, expect: {states: {}}}`, "states: {} expects nothing; name a state and its value"},
		{"no counts", `{at: 0s, on: tick, expect: {observed: {counts: {}}}}`, "counts: {} expects nothing; name a verdict and a number"},
		{"the label of tenants misspelt", `{at: 0s, on: exit, given: {task.labels: {ogr: a}}, expect: {asked: []}}`, `no policy reads task.labels["ogr"]; the policies read`},
		{"two values that nothing reads", `{at: 0s, on: tick, given: {queue.length: 1, queue.safe: 2}, expect: continue()}`, "4:81: no policy reads queue.safe"},
		{"another value that nothing reads", `{at: 0s, on: tick, given: {queue.length: 1}, expect: continue()}, {at: 1s, on: tick, given: {queue.safe: 2}}`, "no policy reads queue.safe"},
	} {
		t.Run(c.name, func(t *testing.T) {
			says(t, c.name, told(t, document, "tests:\n  - {name: it, events: ["+c.events+"]}\n"), c.want)
		})
	}
}
