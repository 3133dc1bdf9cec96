package isolate_test

import (
	"context"
	"fmt"
	"log"

	"github.com/cocoon-go/cocoon/analyzer"
	"github.com/cocoon-go/cocoon/isolate"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// A policy is parsed, verified, compiled, and evaluated on a snapshot of the stubs that it reads.
func Example() {
	shed := policy.Spec{Name: "shed", On: policy.On(stubs.Enqueue), Expr: `queue.length > 100 ? throw("busy") : continue()`}
	program, err := shed.Parse(nil, nil)
	if err != nil {
		log.Fatal(err)
	}
	verified, err := analyzer.Verify(program, analyzer.Limits{})
	if err != nil {
		log.Fatal(err)
	}
	store, err := isolate.NewStore(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	compiled, err := store.Compile(verified)
	if err != nil {
		log.Fatal(err)
	}
	evaluator, err := compiled.NewEvaluator()
	if err != nil {
		log.Fatal(err)
	}
	length := program.Reads[0].Offset
	for _, tasks := range []uint64{7, 200} {
		evaluator.Snapshot()[length] = tasks
		outcome, err := evaluator.Eval()
		fmt.Println(tasks, "tasks:", outcome.Decision, err)
	}
	// Output:
	// 7 tasks: continue <nil>
	// 200 tasks: throw <nil>
}
