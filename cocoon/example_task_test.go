package cocoon_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
)

// A task runs on the goroutine that calls Run, and its error is Run's.
func ExampleRun() {
	err := cocoon.Run(context.Background(), "report", func(ctx context.Context) error {
		for range 3 {
			cocoon.SafePoint(ctx) // here a policy may suspend or stop the task
		}
		fmt.Println("the task is", cocoon.TaskOf(ctx).Name())
		return errors.New("no rows")
	})
	fmt.Println(err)
	// Output:
	// the task is report
	// no rows
}

// Go starts a task on a goroutine of its own. A task that waits for another one by its handle lets
// other tasks run meanwhile, so one slot is enough here.
func ExampleRuntime_Go() {
	rt, err := cocoon.New(cocoon.Config{Slots: 1})
	if err != nil {
		panic(err)
	}
	defer rt.Shutdown(context.Background())
	err = rt.Run(context.Background(), "parent", func(ctx context.Context) error {
		child := rt.Go(ctx, "child", func(ctx context.Context) error {
			fmt.Println(cocoon.TaskOf(ctx).Path())
			return nil
		})
		return child.Wait(ctx)
	})
	fmt.Println(err)
	// Output:
	// parent/child
	// <nil>
}

// A handler waits for its goroutines, and other tasks may use its slot meanwhile.
func ExampleWait() {
	err := cocoon.Run(context.Background(), "render", func(ctx context.Context) error {
		var parts sync.WaitGroup
		for range 3 {
			parts.Go(func() { time.Sleep(time.Millisecond) })
		}
		cocoon.Wait(ctx, parts.Wait)
		return nil
	})
	fmt.Println(err)
	// Output: <nil>
}

// With one slot the tasks take turns. The first task waits for a message, and gives its slot to the
// second one, which sends the message.
func ExampleBlock() {
	rt, err := cocoon.New(cocoon.Config{Slots: 1})
	if err != nil {
		panic(err)
	}
	defer rt.Shutdown(context.Background())
	messages := make(chan string)
	ctx := context.Background()
	receiver := rt.Go(ctx, "receiver", func(ctx context.Context) error {
		return cocoon.Block(ctx, func() error {
			fmt.Println(<-messages)
			return nil
		})
	})
	sender := rt.Go(ctx, "sender", func(ctx context.Context) error {
		return cocoon.Block(ctx, func() error {
			messages <- "hello"
			return nil
		})
	})
	fmt.Println(receiver.Wait(ctx), sender.Wait(ctx))
	// Output:
	// hello
	// <nil> <nil>
}

// A time limit on a section stops the section, and the task goes on.
func ExampleSection() {
	rt, err := cocoon.New(cocoon.Config{QuietThrows: true})
	if err != nil {
		panic(err)
	}
	defer rt.Shutdown(context.Background())
	if _, err := rt.RegisterTimeLimit(cocoon.TimeLimit{Func: "parse", Limit: 20 * time.Millisecond}); err != nil {
		panic(err)
	}
	err = rt.Run(context.Background(), "request", func(ctx context.Context) error {
		pages, err := cocoon.Section(ctx, "parse", func() (pages int, err error) {
			for { // malicious input
				cocoon.SafePoint(ctx)
			}
		})
		var preempted *cocoon.PreemptedError
		fmt.Println(pages, errors.As(err, &preempted), preempted.Section)
		return nil
	})
	fmt.Println(err)
	// Output:
	// 0 true parse
	// <nil>
}
