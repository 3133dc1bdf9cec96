package wire

import (
	"flag"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/summerwind/h2spec/config"
	"github.com/summerwind/h2spec/generic"
	"github.com/summerwind/h2spec/hpack"
	"github.com/summerwind/h2spec/http2"
	"github.com/summerwind/h2spec/spec"
)

var whole = flag.Bool("h2spec", false, "run all cases of h2spec; one in eight otherwise")

// TestH2Spec checks that the server passes each case of h2spec that net/http alone passes.
func TestH2Spec(t *testing.T) {
	stock, hybrid := serve(t, handlers()), serve(t, tasks(t, handlers()))
	n := 0
	var all sync.WaitGroup
	atOnce := make(chan struct{}, 8)
	each([]*spec.TestGroup{generic.Spec(), http2.Spec(), hpack.Spec()}, func(name string, c *spec.TestCase) {
		if n++; !*whole && n%8 != 0 {
			return
		}
		all.Go(func() {
			atOnce <- struct{}{}
			defer func() { <-atOnce }()
			for range 8 { // whether a case passes may depend on timing
				if run(c, hybrid) == nil || run(c, stock) != nil {
					return
				}
			}
			t.Errorf("%s %s: %v; net/http alone passes", name, c.Desc, run(c, hybrid))
		})
	})
	all.Wait()
	t.Logf("%d cases", n)
}

// each calls fn for all cases of the groups.
func each(groups []*spec.TestGroup, fn func(name string, c *spec.TestCase)) {
	for _, g := range groups {
		for _, c := range append(g.Tests, g.StrictTests...) {
			fn(g.ID(), c)
		}
		each(g.Groups, fn)
	}
}

// run runs a case, and returns nil if the server passes it.
func run(c *spec.TestCase, to *net.TCPAddr) error {
	cfg := &config.Config{Host: "127.0.0.1", Port: to.Port, Path: "/", Timeout: time.Second, MaxHeaderLen: 4000, Strict: true}
	conn, err := spec.Dial(cfg)
	if err != nil {
		return err
	}
	defer conn.Close()
	return c.Run(cfg, conn)
}
