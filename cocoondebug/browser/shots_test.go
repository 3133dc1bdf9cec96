package browser

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/cocoon-go/cocoon/internal/tasktest"
)

var (
	shots   = flag.String("shots", "", "take the pictures of the documents, into this folder")
	pageURL = flag.String("page", "http://127.0.0.1:8080/debug/cocoon/", "the page of which to take pictures, under load")
)

// TestShots takes the pictures in docs/img, of the page of examples/overload:
//
//	go run -C examples/overload . -modes cocoon -rounds 1 -duration 1m -page :8080
//	go test -C cocoondebug/browser -run Shots -shots ../../docs/img .
func TestShots(t *testing.T) {
	if *shots == "" {
		t.Skip("without -shots no pictures are taken")
	}
	folder, err := filepath.Abs(*shots)
	tasktest.Must(t, err)
	ctx := browser(t)
	do(t, ctx, chromedp.EmulateViewport(1100, 1000), chromedp.Navigate(*pageURL), chromedp.WaitVisible("#loops svg"))
	wait(t, ctx, `document.querySelectorAll("#decisions tr.refusal").length > 0`)
	time.Sleep(10 * time.Second) // until the time line is full
	for _, scheme := range []string{"light", "dark"} {
		var picture []byte
		media := emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}})
		do(t, ctx, media, chromedp.CaptureScreenshot(&picture))
		tasktest.Must(t, os.WriteFile(filepath.Join(folder, "page-"+scheme+".png"), picture, 0o644))
	}
}
