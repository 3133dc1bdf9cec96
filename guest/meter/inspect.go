package meter

// Info says how a module is metered.
type Info struct {
	Mechanism Mechanism
	Version   int
	Safepoint uint32 // the index of the imported function, among all functions
	Counter   uint32 // the index of the global that the host sets, among all globals
	Export    string // the name under which that global is exported
	Stack     bool   // the module exports its shadow stack pointer as StackExport
	// Private is the number of mutable globals that the module's code writes, and neither exports
	// nor imports; the shadow stack pointer does not count. Two threads of one instance share them.
	// If Stack is false and Private is not 0, one of them may be a stack pointer.
	Private int
}

// Inspect reports whether a module is metered, and how. It reads no code, and does not say whether
// the module is valid. An error is an *Error.
func Inspect(wasm []byte) (Info, bool, error) {
	m := &module{data: wasm}
	if err := m.split(); err != nil {
		return Info{}, false, err
	}
	var info Info
	found := false
	for _, s := range m.sections {
		r := m.reader(s)
		switch {
		case s.id == customSection && string(r.name()) == SectionName:
			found = true
			at := r.at
			info.Version = int(r.byte())
			info.Mechanism = Mechanism(r.byte())
			info.Safepoint, info.Counter = r.u32(), r.u32()
			info.Private = int(r.u32())
			info.Export = info.Mechanism.export()
			if r.err == nil && (info.Version != Version || info.Mechanism > Fuel) {
				r.fail(at, "metered in form %d by mechanism %d; want form %d: meter the original anew",
					info.Version, int(info.Mechanism), Version)
			}
		case s.id == exportSection:
			for n := r.count("exports"); n > 0 && r.err == nil; n-- {
				info.Stack = string(r.name()) == StackExport || info.Stack
				r.byte()
				r.u32()
			}
		default:
			continue
		}
		if r.err != nil {
			return Info{}, false, r.err
		}
	}
	if !found {
		return Info{}, false, nil
	}
	return info, true, nil
}
