//go:build cgo

package fromc

/*
#include <stdint.h>

extern void cocoonFromC(uintptr_t);

static int held;

static void callUnderLock(uintptr_t f) {
	held++;
	cocoonFromC(f);
	held--;
}

static int locksHeld(void) { return held; }
*/
import "C"

import "runtime/cgo"

// Call calls f from a C function that holds a lock during the call. Calls must not be concurrent.
func Call(f func()) {
	h := cgo.NewHandle(f)
	defer h.Delete()
	C.callUnderLock(C.uintptr_t(h))
}

// Held returns how many locks the C functions hold. A C function that was unwound never releases
// its lock.
func Held() int { return int(C.locksHeld()) }

//export cocoonFromC
func cocoonFromC(f C.uintptr_t) { cgo.Handle(f).Value().(func())() }
