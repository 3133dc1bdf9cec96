#include "textflag.h"

// func load32(addr uintptr) uint32
TEXT ·load32(SB),NOSPLIT,$0-12
	MOVQ	addr+0(FP), AX
	MOVL	(AX), AX
	MOVL	AX, ret+8(FP)
	RET

// func load64(addr uintptr) uint64
TEXT ·load64(SB),NOSPLIT,$0-16
	MOVQ	addr+0(FP), AX
	MOVQ	(AX), AX
	MOVQ	AX, ret+8(FP)
	RET
