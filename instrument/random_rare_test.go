package instrument

// randomHook is a function of unknown length for the program's loops.
const randomHook = `
var hook = func(n uint64) uint64 {
	if calls++; n%4096 == 77 {
		panic("the hook panics")
	}
	return n*3 + 1
}
`

// rare writes calls of unknown length that few iterations of a loop make. See type rare.
func (w *writer) rare() {
	call := func() { w.line("\tr ^= hook(uint64(%s))", w.leaf(pick(w, integers))) }
	leave := func() { w.line("\t%s", pick(w, []string{"break", "continue", "r++", "r += 2"})) }
	switch w.IntN(4) {
	case 0:
		w.line("if uint8(r)%%16 == %d {", w.IntN(16))
		call()
		call()
		leave()
		w.line("}")
	case 1:
		w.line("if v := uint8(r)/7; v == 3 {")
		call()
		w.line("} else if v = v - 1; v%%8 == 1 && hook(r)%%2 == 0 {")
		leave()
		w.line("}")
	case 2:
		w.line("switch uint16(r) %% 9 {")
		w.line("case 0, 5:")
		call()
		if w.IntN(2) == 0 {
			w.line("\tfallthrough")
		}
		w.line("case 1:")
		w.line("\tr -= 3")
		leave()
		w.line("case 2:")
		call()
		w.line("\tif r%%2 == 0 { break }")
		call()
		w.line("}")
	case 3:
		w.line("if uint8(r) == 9 {")
		w.line("\tfor v := range s[:len(s)/9] { if v%%64 == 3 { r ^= hook(uint64(v)) }; r++ }")
		call()
		w.line("}")
	}
}
