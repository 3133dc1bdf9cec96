package cocoon

import (
	"crypto/sha256"
	"time"
)

// DocumentStats has the counters of a policy file, from its first successful load on.
type DocumentStats struct {
	Loads    int64     // times that the file was loaded
	Refusals int64     // times that it could not be read, or its content was refused
	Loaded   time.Time // of the content in force

	// Stale is the error of the last load; "" if that succeeded. An older content of the file is
	// then in force.
	Stale string

	// Canary has the figures of the canary in force; nil if none is.
	Canary *CanaryStats
	// Rollbacks counts the canaries of the file that were rolled back, and RolledBack says why the
	// last one was.
	Rollbacks  int64
	RolledBack string

	name string
}

// CanaryStats are the figures of a canary in force.
type CanaryStats struct {
	Share  float64   // of the tasks
	By     string    // what is hashed to choose them
	Since  time.Time // when it came into force
	Throws int64     // throws and refusals of its versions
	Cohort CanarySide
	Rest   CanarySide
}

// CanarySide counts the tasks of one side of a canary, since it came into force.
type CanarySide struct {
	Ended    int64     // tasks that have ended, and refused ones
	Failed   int64     // tasks that were refused or thrown into, or returned an error
	Queueing Histogram // how long the started ones waited for slots
}

// textSum identifies the text of a document.
type textSum [sha256.Size]byte
