#include "textflag.h"

// The g begins with the bounds of the stack. A frame pointer points at the one before, which is followed by the return
// address. The assembler gives this function no frame, so BP is the caller's.

// func stackSum() (sum uint64)
TEXT ·stackSum(SB),NOSPLIT|NOFRAME,$0-8
	MOVQ	(TLS), AX
	MOVQ	0(AX), SI // the stack's low end
	MOVQ	8(AX), DI // and its high end
	SUBQ	$16, DI
	MOVQ	$0x9E3779B97F4A7C15, R8
	MOVQ	R8, AX
	MOVQ	BP, CX
next:
	TESTQ	CX, CX
	JEQ	done
	CMPQ	CX, SI
	JLS	none
	CMPQ	CX, DI
	JHI	none
	MOVQ	CX, SI // the next one is above
	XORQ	8(CX), AX
	IMULQ	R8, AX
	ROLQ	$29, AX
	MOVQ	0(CX), CX
	JMP	next
none:
	XORQ	AX, AX
done:
	MOVQ	AX, sum+0(FP)
	RET

// func stackFrames(into []Frame) (n int)
TEXT ·stackFrames(SB),NOSPLIT|NOFRAME,$0-32
	MOVQ	(TLS), AX
	MOVQ	0(AX), SI
	MOVQ	8(AX), DI
	MOVQ	DI, R8
	SUBQ	$16, DI
	MOVQ	into_base+0(FP), R9
	MOVQ	into_len+8(FP), R10
	XORQ	R11, R11
	MOVQ	BP, CX
next:
	TESTQ	CX, CX
	JEQ	done
	CMPQ	CX, SI
	JLS	none
	CMPQ	CX, DI
	JHI	none
	MOVQ	CX, SI
	CMPQ	R11, R10
	JGE	full
	MOVQ	R8, AX
	SUBQ	CX, AX
	MOVQ	AX, 0(R9)
	MOVQ	8(CX), AX
	MOVQ	AX, 8(R9)
	ADDQ	$24, R9
full:
	INCQ	R11
	MOVQ	0(CX), CX
	JMP	next
none:
	XORQ	R11, R11
done:
	MOVQ	R11, n+24(FP)
	RET

// func stackHas(depth, place, caller uintptr) bool
TEXT ·stackHas(SB),NOSPLIT|NOFRAME,$0-25
	MOVQ	(TLS), AX
	MOVQ	0(AX), SI
	MOVQ	8(AX), DI
	MOVQ	DI, R8
	SUBQ	depth+0(FP), R8
	SUBQ	$16, DI
	MOVQ	BP, CX
next:
	CMPQ	CX, SI
	JLS	none
	CMPQ	CX, DI
	JHI	none
	CMPQ	CX, R8
	JHI	none
	MOVQ	CX, SI
	MOVQ	0(CX), CX
	JNE	next
	MOVQ	8(SI), AX
	CMPQ	AX, place+8(FP)
	JNE	none
	CMPQ	CX, SI
	JLS	none
	CMPQ	CX, DI
	JHI	none
	MOVQ	8(CX), AX
	CMPQ	AX, caller+16(FP)
	JNE	none
	MOVB	$1, ret+24(FP)
	RET
none:
	MOVB	$0, ret+24(FP)
	RET
