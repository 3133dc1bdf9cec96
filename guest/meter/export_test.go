package meter

// RewriteEach meters a module by fuel, with a charge for each instruction before it. It is slow,
// and too simple to be wrong: other tests compare it with Rewrite.
func RewriteEach(wasm []byte) ([]byte, error) {
	m, err := parse(wasm)
	if err != nil {
		return nil, err
	}
	m.mechanism = Fuel
	w := &writer{module: m, each: true}
	return w.write()
}
