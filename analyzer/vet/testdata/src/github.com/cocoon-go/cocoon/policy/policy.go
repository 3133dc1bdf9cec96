// Package policy has what the checkers know of the real one.
package policy

import (
	"time"

	"github.com/cocoon-go/cocoon/stubs"
)

type Spec struct {
	Name  string
	On    Trigger
	Expr  string
	Mode  Mode
	Match Match
	State map[string]any
	Zone  string
}

type Trigger struct {
	Interval time.Duration
	Events   stubs.Event
	Custom   string
}

func Every(interval time.Duration) Trigger { return Trigger{Interval: interval} }
func On(events stubs.Event) Trigger        { return Trigger{Events: events} }
func OnCustom(name string) Trigger         { return Trigger{Events: stubs.Custom, Custom: name} }

type Mode uint8

const (
	Enforce Mode = iota
	Observe
)

type Match struct {
	Loops  []string
	Tasks  []string
	Except []string
	Kinds  []string
}

type TimeLimit struct {
	Func     string
	Limit    time.Duration
	Interval time.Duration
	Reason   string
}

type PerLoop struct{ First any }

type Keyed struct {
	First any
	Keys  int
	TTL   time.Duration
	By    []string
}

type Bucket struct{ Rate, Burst float64 }
