package cocoon

import (
	"context"
	"reflect"
)

// relation is how the end of one context depends on the end of another.
type relation uint8

const (
	unknown relation = iota
	follows          // it ends with the other
	stays            // it does not
)

// relationOf returns whether ctx ends with another context. The function is recognises the Done of
// that context; relationOf asks it about each context from which ctx was derived. Package context
// has no function that returns the parent of a context. So relationOf reads the field Context, in
// which its contexts, and most contexts of other packages, embed their parent. A context of another
// package with a Done of its own remains unknown.
func relationOf(ctx context.Context, is func(done <-chan struct{}) bool) relation {
	for {
		done := ctx.Done()
		switch {
		case done == nil:
			return stays
		case is(done):
			return follows
		}
		above, standard := embedded(ctx)
		if above == nil || !standard && above.Done() != done {
			return unknown
		}
		ctx = above
	}
}

// embedded returns the context that ctx embeds, or nil, and whether ctx belongs to package context.
func embedded(ctx context.Context) (above context.Context, standard bool) {
	if c, ok := ctx.(*taskContext); ok {
		return c.ctx, true
	}
	defer func() {
		if recover() != nil { // a nil pointer on the way to the field
			above = nil
		}
	}()
	v := reflect.Indirect(reflect.ValueOf(ctx))
	if v.Kind() != reflect.Struct {
		return nil, false
	}
	if f := v.FieldByName("Context"); f.IsValid() && f.CanInterface() {
		above, _ = f.Interface().(context.Context)
	}
	return above, v.Type().PkgPath() == "context"
}
