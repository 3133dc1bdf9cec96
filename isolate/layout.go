package isolate

import (
	"fmt"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// A policy's linear memory contains the snapshot from address 0, then the word of fired bits, then
// a word for each site's operand, then a word that says when to retry after a throw, then the sets,
// and then the constants of comparisons.
// A function without sites, and without throws that say when to retry, writes nothing.

const (
	wordBytes = 8
	pageBytes = 1 << 16
	maxPages  = 32 // a snapshot of 262,000 words: far more than a policy's cost bound allows, with its sets
)

func firedAddress(p *ir.Program) int { return p.Words * wordBytes }

func valueAddress(p *ir.Program, site int) int { return firedAddress(p) + (1+site)*wordBytes }

func retryAddress(p *ir.Program) int { return valueAddress(p, len(p.Sites)) }

func setsAddress(p *ir.Program) int { return retryAddress(p) + wordBytes }

// pool holds the constants of comparisons, and where they are in the memory.
type pool struct {
	address int
	words   []uint64
}

// pages returns the size of the program's memory, with so many words of sets and constants.
func pages(p *ir.Program, sets int) (int, error) {
	if p.Words < 0 || len(p.Sites) > stubs.MaxSites {
		return 0, fmt.Errorf("a program of %d words and %d effects; at most %d effects", p.Words, len(p.Sites), stubs.MaxSites)
	}
	if p.Words > maxPages*pageBytes/wordBytes-2-stubs.MaxSites-sets {
		return 0, fmt.Errorf("a snapshot of %d words does not fit the %d KiB of a policy's memory; read fewer stubs", p.Words, maxPages*pageBytes>>10)
	}
	return (setsAddress(p) + sets*wordBytes + pageBytes - 1) / pageBytes, nil
}

// A function returns one word. A verdict has the decision in its low byte and a throw's reason in
// the higher bytes. An error has the top bit set, then the class, then the position in the text. An
// error is an early return, because a trap would cost microseconds and lose the position.

const failed = 1 << 63

// classes are the errors of an evaluation, by their class in a result word.
var classes = [...]error{ir.ErrOverflow, ir.ErrDivideByZero, ir.ErrConversion, ir.ErrNotANumber, ir.ErrTokens}

const (
	overflow = iota
	divideByZero
	conversion
	notANumber
	tokens
)

func verdictWord(n *ir.Node) uint64 {
	if stubs.Decision(n.Imm) == stubs.Throw {
		return n.Imm | uint64(n.Index)<<8
	}
	return n.Imm
}

func errorWord(class, pos int) uint64 {
	return failed | uint64(class)<<32 | uint64(uint32(pos))
}

func splitVerdict(word uint64) (stubs.Decision, int) {
	return stubs.Decision(word & 0xff), int(word >> 8)
}

func splitError(word uint64) error {
	return &ir.EvalError{Pos: int(uint32(word)), Err: classes[word&^failed>>32]}
}
