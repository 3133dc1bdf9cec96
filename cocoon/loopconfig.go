package cocoon

import "fmt"

// LoopConfig configures an additional loop. Its fields mean the same as those in Config.
type LoopConfig struct {
	Name       string // must be unique in the runtime
	Slots      int    // 0 means 1, the classic event loop
	MaxQueue   int
	MaxStarted int

	// Exclusive loops never lend a slot. Their tasks stay atomic towards each other between safe
	// points, even when a task stalls, or waits without Block, and delays the loop. Any other loop
	// with one slot lends it after StallAfter. With more slots, a loop lends the slot of a task
	// that waits without Block at once, and that task then runs concurrently with other tasks until
	// its next safe point.
	Exclusive bool
}

func (c LoopConfig) complete() (LoopConfig, error) {
	if c.Name == "" {
		return c, fmt.Errorf("cocoon: a loop needs a name: set LoopConfig.Name")
	}
	if err := checkBounds("LoopConfig", c.Slots, c.MaxQueue, c.MaxStarted); err != nil {
		return c, err
	}
	orDefault(&c.Slots, 1)
	return c, nil
}
