package guest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/guest"
)

// A limit stops a guest that never returns.
func Example() {
	ctx := context.Background()
	rt, err := cocoon.New(cocoon.Config{QuietThrows: true})
	if err != nil {
		panic(err)
	}
	defer rt.Shutdown(ctx)
	rt.RegisterTimeLimit(cocoon.TimeLimit{Func: "plugin.spin", Limit: 50 * time.Millisecond})

	wasm, err := os.ReadFile("testdata/fib.wasm")
	if err != nil {
		panic(err)
	}
	plugin, err := guest.Compile(ctx, wasm, guest.Config{Name: "plugin", Loop: rt.Loop()})
	if err != nil {
		panic(err)
	}
	defer plugin.Close(ctx)
	in, err := plugin.Instantiate(ctx, nil)
	if err != nil {
		panic(err)
	}
	defer in.Shutdown(ctx)

	results, err := in.Call(ctx, "fib", 20)
	fmt.Println(results, err)

	thread := in.Spawn(ctx, "spin")
	_, err = thread.Wait(ctx)
	var throw *cocoon.PreemptedError
	fmt.Println(errors.As(err, &throw))
	// Output:
	// [6765] <nil>
	// true
}
