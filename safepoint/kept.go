package safepoint

// kept are the rules of -cocoon.keep: functions that a throw must not unwind. A file that cocoon
// build adds to this package sets them.
var kept []string

// Kept returns the rules with which the program was built, as package internal/keep parses them.
func Kept() []string { return kept }
