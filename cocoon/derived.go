package cocoon

import (
	"context"
	"reflect"
)

// relation is how the end of one context depends on that of another.
type relation uint8

const (
	unknown relation = iota
	follows          // it ends with the other
	stays            // it does not
)

// relationOf returns whether ctx ends when a context ends whose Done is is: it searches the contexts
// that ctx was derived from. Package context tells neither the parents of a context nor what ends
// it. So relationOf looks at the parent that its contexts and most others embed under the name
// Context. Another package's context that has a Done of its own remains unknown.
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
