#include "textflag.h"

// The g begins with the bounds of the stack. A frame pointer points at the one before, which is followed by the return
// address. The assembler gives this function no frame, so R29 is the caller's.

// func stackSum() (sum uint64)
TEXT ·stackSum(SB),NOSPLIT|NOFRAME,$0-8
	MOVD	0(g), R1 // the stack's low end
	MOVD	8(g), R2 // and its high end
	SUB	$16, R2
	MOVD	$0x9E3779B97F4A7C15, R3
	MOVD	R3, R0
	MOVD	R29, R4
next:
	CBZ	R4, done
	CMP	R1, R4
	BLS	none
	CMP	R2, R4
	BHI	none
	MOVD	R4, R1 // the next one is above
	MOVD	8(R4), R5
	EOR	R5, R0
	MUL	R3, R0
	ROR	$35, R0
	MOVD	0(R4), R4
	B	next
none:
	MOVD	$0, R0
done:
	MOVD	R0, sum+0(FP)
	RET

// func stackFrames(into []Frame) (n int)
TEXT ·stackFrames(SB),NOSPLIT|NOFRAME,$0-32
	MOVD	0(g), R1
	MOVD	8(g), R2
	MOVD	R2, R3
	SUB	$16, R2
	MOVD	into_base+0(FP), R6
	MOVD	into_len+8(FP), R7
	MOVD	$0, R0
	MOVD	R29, R4
next:
	CBZ	R4, done
	CMP	R1, R4
	BLS	none
	CMP	R2, R4
	BHI	none
	MOVD	R4, R1
	CMP	R7, R0
	BGE	full
	SUB	R4, R3, R5
	MOVD	R5, 0(R6)
	MOVD	8(R4), R5
	MOVD	R5, 8(R6)
	ADD	$24, R6
full:
	ADD	$1, R0
	MOVD	0(R4), R4
	B	next
none:
	MOVD	$0, R0
done:
	MOVD	R0, n+24(FP)
	RET

// func stackHas(depth, place, caller uintptr) bool
TEXT ·stackHas(SB),NOSPLIT|NOFRAME,$0-25
	MOVD	0(g), R1
	MOVD	8(g), R2
	MOVD	depth+0(FP), R3
	SUB	R3, R2, R3
	SUB	$16, R2
	MOVD	$0, R0
	MOVD	R29, R4
next:
	CMP	R1, R4
	BLS	done
	CMP	R2, R4
	BHI	done
	CMP	R3, R4
	BHI	done
	MOVD	R4, R1
	MOVD	0(R4), R4
	BNE	next
	MOVD	8(R1), R5
	MOVD	place+8(FP), R6
	CMP	R6, R5
	BNE	done
	CMP	R1, R4
	BLS	done
	CMP	R2, R4
	BHI	done
	MOVD	8(R4), R5
	MOVD	caller+16(FP), R6
	CMP	R6, R5
	BNE	done
	MOVD	$1, R0
done:
	MOVB	R0, ret+24(FP)
	RET
