package browser

import (
	"context"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// watchConsole fails the test if the console of the tab gets an error.
func watchConsole(t *testing.T, ctx context.Context) {
	var mu sync.Mutex
	var lines []string
	add := func(line string) {
		mu.Lock()
		defer mu.Unlock()
		lines = append(lines, line)
	}
	chromedp.ListenTarget(ctx, func(event any) {
		switch e := event.(type) {
		case *log.EventEntryAdded:
			if e.Entry.Level == log.LevelError && e.Entry.Source != log.SourceNetwork {
				add(e.Entry.Text)
			}
		case *runtime.EventExceptionThrown:
			add(e.ExceptionDetails.Error())
		}
	})
	t.Cleanup(func() {
		mu.Lock()
		defer mu.Unlock()
		for _, line := range lines {
			t.Errorf("the console has: %s", line)
		}
	})
}

func withoutScript() chromedp.Action { return emulation.SetScriptExecutionDisabled(true) }
