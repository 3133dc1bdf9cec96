package main

import (
	"errors"
	"sync"
	"time"
)

// schema is what a cache has: it is complete when it has all parts.
type schema struct {
	parts [4]bool
	next  int
}

func (s *schema) add() {
	for begin := time.Now(); time.Since(begin) < 3*time.Millisecond; {
	}
	s.parts[s.next] = true
	s.next++
}

func (s *schema) err() error {
	if s.parts != [4]bool{true, true, true, true} {
		return errors.New("the cache has a schema without all of its parts")
	}
	return nil
}

// cached stores schemas in a cache before they are complete, as gorm does.
func cached() engine {
	var cache sync.Map
	key := 0
	load := func() {
		s := new(schema)
		if _, loaded := cache.LoadOrStore(key, s); loaded {
			return
		}
		for range s.parts {
			s.add()
		}
	}
	return engine{
		"sync.Map",
		func() error {
			for {
				key++
				load()
			}
		},
		func() (err error) {
			cache.Range(func(_, s any) bool {
				err = errors.Join(err, s.(*schema).err())
				return true
			})
			return err
		},
	}
}

var half, whole int

// count counts in two steps. The command line keeps it.
func count() {
	half++
	for begin := time.Now(); time.Since(begin) < 10*time.Millisecond; {
	}
	whole++
}

func named() engine {
	return engine{
		"-cocoon.keep",
		func() error {
			for {
				count()
			}
		},
		func() error { return equal(half, whole) },
	}
}

// seats are taken and given back by functions whose names say nothing.
type seats chan struct{}

type room struct{ seats seats }

func (r *room) sit() {
	r.seats <- struct{}{}
	for begin := time.Now(); time.Since(begin) < 3*time.Millisecond; {
	}
}

func (r *room) rise() { <-r.seats }

// seated has one seat, which must not get lost.
func seated() engine {
	r := &room{make(seats, 1)}
	return engine{
		"semaphore",
		func() error {
			for {
				r.sit()
				for begin := time.Now(); time.Since(begin) < 10*time.Millisecond; {
				}
				r.rise()
			}
		},
		func() error { return equal(len(r.seats), 0) },
	}
}

// opened is under a lock that a function acquires, and that the function it returns releases.
func opened() engine {
	l := &lobby{}
	return engine{
		"lock of another function",
		func() error {
			for {
				leave := l.enter()
				for begin := time.Now(); time.Since(begin) < 10*time.Millisecond; {
				}
				leave()
			}
		},
		func() error {
			if !l.mu.TryLock() {
				return errors.New("it is left locked")
			}
			l.mu.Unlock()
			return nil
		},
	}
}

type lobby struct{ mu sync.Mutex }

func (l *lobby) enter() func() {
	l.mu.Lock()
	return func() { l.mu.Unlock() }
}
