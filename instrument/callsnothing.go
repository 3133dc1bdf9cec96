package instrument

import "go/types"

// callsNothing reports whether the function belongs to a package that never polls, and calls none
// of the code that its arguments carry. Their types do not show this: a reflect.Value may contain a
// function, and a sync.Pool has one.
func callsNothing(f *types.Func) bool {
	if f.Pkg() == nil {
		return false
	}
	switch f.Pkg().Path() {
	case "reflect":
		// Other packages cannot implement reflect.Type. What Seq and Seq2 return is called elsewhere.
		return f.Name() != "Call" && f.Name() != "CallSlice"
	case "sync":
		switch receiverOf(f) {
		case "Map":
			return f.Name() != "Range"
		case "Pool":
			return f.Name() == "Put"
		}
	case "runtime":
		return f.Name() == "KeepAlive"
	case "unique", "weak":
		return true // to compare values calls nothing
	}
	return false
}

// receiverOf returns the name of the type to which the method belongs, or "".
func receiverOf(f *types.Func) string {
	recv := f.Signature().Recv()
	if recv == nil {
		return ""
	}
	t := types.Unalias(recv.Type())
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	if n, ok := t.(*types.Named); ok {
		return n.Obj().Name()
	}
	return ""
}
