#include "textflag.h"

// func load32(addr uintptr) uint32
TEXT ·load32(SB),NOSPLIT,$0-12
	MOVD	addr+0(FP), R0
	MOVWU	(R0), R0
	MOVW	R0, ret+8(FP)
	RET

// func load64(addr uintptr) uint64
TEXT ·load64(SB),NOSPLIT,$0-16
	MOVD	addr+0(FP), R0
	MOVD	(R0), R0
	MOVD	R0, ret+8(FP)
	RET
