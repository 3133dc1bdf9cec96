// Package stubs defines the values that a policy may read and the actions that it may request.
//
// # State stubs
//
// State stubs are read-only values of the running program, such as task.running and queue.length.
// [Catalogue] describes each of them, and [Lookup] finds one by its path.
//
// # Control stubs
//
// Control stubs are the verdicts ([Decision]) and the effects ([Effect]) of policies.
//
// The package also has the binary layouts that the runtime, the reference interpreter and the
// isolate share. It executes nothing (paper §4.3, "Stubs").
package stubs

import (
	"fmt"
	"math"
	"time"
)

// Type is the static type of a value in the policy language. Every scalar is one 64-bit word.
type Type uint8

// The types. Invalid is the zero Type, which no expression has.
const (
	Invalid  Type = iota
	Unit          // the "value" of an effect
	Verdict       // continue, throw or switch
	Bool          // 0 or 1
	Int           // int64: counts and plain numbers
	Float         // float64 bits: ratios and plain numbers
	Duration      // int64 nanoseconds
	Bytes         // int64 bytes
	Name          // a NameID
	NameList      // a length word, then at most Stub.Max words of Name
)

var typeNames = [...]string{"invalid", "unit", "verdict", "bool", "int", "float", "duration", "bytes", "name", "list of names"}

func (t Type) String() string {
	if int(t) < len(typeNames) {
		return typeNames[t]
	}
	return fmt.Sprintf("Type(%d)", uint8(t))
}

// Integral reports whether values of t are held as an int64 and are ordered and added as such.
func (t Type) Integral() bool { return t == Int || t == Duration || t == Bytes }

// Numeric reports whether arithmetic is defined on t.
func (t Type) Numeric() bool { return t.Integral() || t == Float }

// Word encodes a Go value (bool, int, int64, float64, time.Duration or string) as a snapshot word
// and reports its type. Registered states enter and leave the language through Word and Value.
func Word(v any) (word uint64, t Type, err error) {
	switch v := v.(type) {
	case bool:
		return FromBool(v), Bool, nil
	case int:
		return uint64(v), Int, nil
	case int64:
		return uint64(v), Int, nil
	case float64:
		return math.Float64bits(v), Float, nil
	case time.Duration:
		return uint64(v), Duration, nil
	case string:
		return uint64(Intern(v)), Name, nil
	}
	return 0, Invalid, fmt.Errorf("a value of Go type %T; want bool, int, int64, float64, time.Duration or string", v)
}

// Value is the inverse of Word: the Go value of a word of type t. Int and Bytes become int64, and
// Name stays a NameID.
func Value(word uint64, t Type) any {
	switch t {
	case Bool:
		return word != 0
	case Int, Bytes:
		return int64(word)
	case Float:
		return math.Float64frombits(word)
	case Duration:
		return time.Duration(word)
	case Name:
		return NameID(word)
	}
	return nil
}

// FromBool encodes a bool as a snapshot word.
func FromBool(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
