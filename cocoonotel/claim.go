package cocoonotel

import (
	"fmt"
	"reflect"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/cocoon-go/cocoon/cocoon"
)

// claims are the combinations of a provider and attributes in use. The API does not tell that two
// callbacks observe the same series: it adds their values up, or keeps one of them.
var claims struct {
	mu sync.Mutex
	by map[claimed]bool
}

type claimed struct {
	meters     metric.MeterProvider
	attributes attribute.Distinct
}

// claim claims the attributes at a provider for a runtime.
func claim(rt *cocoon.Runtime, meters metric.MeterProvider, attributes []attribute.KeyValue) (release func(), err error) {
	if !reflect.TypeOf(meters).Comparable() {
		return func() {}, nil // no provider of the SDK is like this
	}
	set := attribute.NewSet(attributes...)
	key := claimed{meters, set.Equivalent()}
	claims.mu.Lock()
	defer claims.mu.Unlock()
	if claims.by[key] {
		return nil, fmt.Errorf("metrics of a runtime with the attributes %v are %w at the MeterProvider; give each runtime attributes of its own",
			attributes, cocoon.ErrDuplicate)
	}
	if claims.by == nil {
		claims.by = map[claimed]bool{}
	}
	claims.by[key] = true
	return func() {
		claims.mu.Lock()
		defer claims.mu.Unlock()
		delete(claims.by, key)
	}, nil
}
