package cocoonhttp

import (
	"flag"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/longtest"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

var (
	chaosTime  = flag.Duration("chaos.time", 0, "how long each TestChaos runs; 0: a second, 300 ms in the short form")
	chaosPlain = flag.Bool("chaos.plain", false, "TestChaos looks for late responses of net/http alone")
	chaosSeed  = flag.Uint64("chaos.seed", 0, "of the requests; 0: one of the time")
)

// TestChaos checks responses under random handlers, clients, throws and disconnects. Every response
// that a client takes for whole is whole, byte by byte. Every other response is refused, or visibly
// cut. No response is missing, and nothing leaks. make chaos runs it for a long time.
func TestChaos(t *testing.T) {
	t.Parallel() // other parallel tests wait meanwhile
	lasts := *chaosTime
	if lasts == 0 {
		lasts = time.Duration(longtest.Count(1000, 50)) * time.Millisecond
	}
	for name, ask := range map[string]func(s *chaosServer, rng *rand.Rand) error{
		"HTTP/1": func(s *chaosServer, rng *rand.Rand) error { return pipeline(s.address, rng, s.count) },
		"HTTP/2": func(s *chaosServer, rng *rand.Rand) error { return s.stream(rng) },
	} {
		t.Run(name, func(t *testing.T) {
			seed := *chaosSeed
			if seed == 0 {
				seed = uint64(time.Now().UnixNano())
			}
			s := newChaosServer(t, name == "HTTP/2")
			var all sync.WaitGroup
			for client := range uint64(16) {
				all.Go(func() {
					rng := rand.New(rand.NewPCG(seed, client))
					for end := time.Now().Add(lasts); (time.Now().Before(end) || !s.seenAll(end)) && !t.Failed(); {
						if err := ask(s, rng); err != nil {
							t.Errorf("-chaos.seed=%d: %v\n%s", seed, err, tasktest.Stacks())
						}
					}
				})
			}
			all.Wait()
			t.Log(s.kinds)
			if !s.seenAll(time.Now()) {
				t.Errorf("responses of one kind are missing: %v", s.kinds)
			}
		})
	}
}

// chaosServer is a server with the policies of TestChaos, and the counts of its responses.
type chaosServer struct {
	address string
	url     string
	client  *http.Client

	mu    sync.Mutex
	kinds map[string]int
}

func newChaosServer(t *testing.T, second bool) *chaosServer {
	rt := tasktest.Start(t, cocoon.Config{Slots: 2})
	tasktest.Must(t, rt.LoadPolicies(strings.NewReader(`
version: 1
limits:
  - {func: chaos, limit: 1ms}
  - {func: /, limit: 5ms}
`)))
	mux := http.NewServeMux()
	mux.HandleFunc("/", chaosHandler(t.Errorf))
	var h http.Handler = mux
	if !*chaosPlain {
		h = Middleware(rt, Options{})(mux)
	}
	s := &chaosServer{kinds: map[string]int{}}
	under := serve(t, h)
	if second {
		under = serve(t, h, http2)
	}
	s.address, s.url, s.client = under.Listener.Addr().String(), under.URL, under.Client()
	s.client.Timeout = tasktest.Patience
	return s
}

// seenAll reports whether clients have received responses of all kinds. It gives up some time after
// end.
func (s *chaosServer) seenAll(end time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return *chaosPlain || s.kinds["whole"] > 0 && s.kinds["refused"] > 0 && s.kinds["cut"] > 0 || time.Since(end) > tasktest.Patience
}

func (s *chaosServer) count(kind string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kinds[kind]++
}

// stream makes a request over HTTP/2.
func (s *chaosServer) stream(rng *rand.Rand) error {
	a := ask(rng, false)
	r, err := http.NewRequest(a.method, s.url+"/?n="+a.query(), strings.NewReader(string(pattern(a.number, 0, a.body))))
	if err != nil {
		return err
	}
	if a.chunked {
		r.ContentLength = -1
	}
	resp, err := s.client.Do(r)
	if err != nil {
		s.count("unanswered")
		if strings.Contains(err.Error(), "Timeout") {
			return err
		}
		return nil
	}
	defer resp.Body.Close()
	kind, err := a.check(resp)
	s.count(kind)
	return err
}
