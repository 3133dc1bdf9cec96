package victim

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
)

// work polls for some 20 ms.
func work(ctx context.Context) {
	for range 2_000_000 {
		cocoon.SafePoint(ctx)
	}
}

// carry carries an order out, and returns the report.
func carry(t *testing.T, o Order, op Operation) (r Report) {
	o.Report = filepath.Join(t.TempDir(), "report")
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(Environment, string(text))
	Run(op)
	if os.Getenv(Environment) != "" {
		t.Error("the order is left in the environment")
	}
	if text, err = os.ReadFile(o.Report); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestNoOrder(t *testing.T) {
	Run(func(context.Context) (any, error) { panic("there is no order") })
}

func answer7(ctx context.Context) (any, error) {
	work(ctx)
	return 7, nil
}

func TestCalmAndThrows(t *testing.T) {
	calm := carry(t, Order{}, answer7)
	if calm.Answer != "7" || calm.Span <= 0 || calm.Goroutines < 1 {
		t.Errorf("%+v; want the answer 7, and the span and the goroutines", calm)
	}
	r := carry(t, Order{Throws: 10, Span: calm.Span, Answer: "7"}, answer7)
	if len(r.Stopped) == 0 || len(r.Stopped)+len(r.Missed) != 10 || len(r.Harm) > 0 {
		t.Errorf("%+v; want ten throws without harm", r)
	}
}

// TestHarm has an operation that is left in another state by a throw, with a lost goroutine.
func TestHarm(t *testing.T) {
	hold := make(chan bool)
	defer close(hold)
	inside := 0
	r := carry(t, Order{Throws: 5, Span: 2 * time.Millisecond, Answer: "0"}, func(ctx context.Context) (any, error) {
		inside++
		go func() { <-hold }()
		work(ctx)
		inside--
		return inside, nil
	})
	if len(r.Harm) == 0 || !strings.Contains(r.Harm[0], "instead of 0") || r.Goroutines < 6 {
		t.Errorf("%+v; want a wrong answer and five goroutines more", r)
	}
}

// TestReturned has an operation that ends late, with an error of its own. It ends before the throw
// ends its context: after that, an error would count as the throw's.
func TestReturned(t *testing.T) {
	r := carry(t, Order{Throws: 5, Span: time.Millisecond, Answer: "0"}, func(context.Context) (any, error) {
		for begin := time.Now(); time.Since(begin) < 4*time.Millisecond; {
		}
		return nil, errors.New("my own")
	})
	// On a busy machine a task may lose its core between its slot and its function. The throw then
	// comes before the function.
	if len(r.Missed) == 0 || len(r.Stopped)+len(r.Missed) != 5 || r.Returned["my own"] != len(r.Missed) || len(r.Harm) == 0 {
		t.Errorf("%+v; want five errors of its own", r)
	}
}

func TestDigest(t *testing.T) {
	if got := digest([]int{1, 2}); got != "[1 2]" {
		t.Errorf("a short answer is shown as %s", got)
	}
	a, b := digest(strings.Repeat("a", 1000)), digest(strings.Repeat("a", 999)+"b")
	if len(a) > 150 || a == b {
		t.Errorf("long answers are shown as %s and %s; want them short and different", a, b)
	}
}

func TestText(t *testing.T) {
	if a := Text(1000); len(strings.Fields(a)) != 1000 || a != Text(1000) {
		t.Errorf("%d words, the same again: %t", len(strings.Fields(a)), a == Text(1000))
	}
}
