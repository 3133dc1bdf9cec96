package notify

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestBubble(t *testing.T) {
	if _, bubbled := Clock(); bubbled {
		t.Fatal("in a bubble before there is one")
	}
	begin := Now()
	channel := new(atomic.Pointer[chan int])
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(1000 * time.Hour) // in the bubble's time
		now, bubbled := Clock()
		if d := now - begin; !bubbled || d < 0 || d > int64(time.Hour) {
			t.Errorf("in the bubble: %v, and %v passed; want true, and real time", bubbled, time.Duration(d))
		}
		Outside(func() {
			if Bubbled() {
				t.Error("Outside is inside")
			}
			c := make(chan int, 1)
			channel.Store(&c)
		})
		(*channel.Load()) <- 1
	})
	if v := <-*channel.Load(); v != 1 { // a channel of the bubble would end the process here
		t.Errorf("received %d", v)
	}
	if end := Now(); end < begin || Bubbled() {
		t.Errorf("afterwards: %d is before %d, or still in a bubble", end, begin)
	}
}

// TestTimerStartedInABubble checks that a timer runs outside if a bubble starts its thread: it can
// use what is outside, the bubble's time goes on while the timer sleeps, and the bubble ends
// without it.
func TestTimerStartedInABubble(t *testing.T) {
	ran := make(chan bool, 1)
	timer := NewTimer(func(int64) int64 {
		ran <- Bubbled()
		return Never
	})
	defer timer.Close()
	synctest.Test(t, func(t *testing.T) {
		timer.WakeAt(Now() + int64(time.Millisecond))
		time.Sleep(time.Hour)
	})
	select {
	case bubbled := <-ran:
		if bubbled {
			t.Error("the handler runs in the bubble")
		}
	case <-time.After(20 * time.Second):
		t.Error("the handler did not run")
	}
}
