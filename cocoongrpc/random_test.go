package cocoongrpc

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	pb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/status"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/longtest"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

// perStream is how many messages a stream has in each direction.
const perStream = 20

// counted is a listener that counts its connections.
type counted struct {
	net.Listener
	n atomic.Int32
}

func (c *counted) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	if err == nil {
		c.n.Add(1)
	}
	return conn, err
}

// works passes safe points for a while.
func works(ctx context.Context) {
	for begin := time.Now(); time.Since(begin) < 20*time.Microsecond; {
		cocoon.SafePoint(ctx)
	}
}

func numbered(n int) *pb.Payload {
	return &pb.Payload{Body: binary.BigEndian.AppendUint64(make([]byte, 100), uint64(n))}
}

func numberOf(p *pb.Payload) int {
	if b := p.GetBody(); len(b) == 108 {
		return int(binary.BigEndian.Uint64(b[100:]))
	}
	return -1
}

// working is a service whose handlers work between messages. open counts the handlers that run.
func working(open *atomic.Int32) *service {
	return &service{
		unary: func(ctx context.Context, r *pb.SimpleRequest) (*pb.SimpleResponse, error) {
			open.Add(1)
			defer open.Add(-1)
			works(ctx)
			return &pb.SimpleResponse{Payload: r.Payload}, nil
		},
		talk: func(s pb.TestService_FullDuplexCallServer) error {
			open.Add(1)
			defer open.Add(-1)
			for {
				r, err := s.Recv()
				if err == io.EOF {
					return nil
				}
				if err != nil {
					return err
				}
				works(s.Context())
				if err := s.Send(&pb.StreamingOutputCallResponse{Payload: r.Payload}); err != nil {
					return err
				}
			}
		},
		feed: func(s pb.TestService_StreamingOutputCallServer) error {
			open.Add(1)
			defer open.Add(-1)
			for i := range perStream {
				works(s.Context())
				if err := s.Send(&pb.StreamingOutputCallResponse{Payload: numbered(i)}); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// errWrong is an answer that no server has given, or half of one taken for whole.
var errWrong = errors.New("wrong answer")

// whole receives all messages of a stream, which must be complete if it ends without an error.
func whole(ctx context.Context, recv func() (*pb.StreamingOutputCallResponse, error)) error {
	for i := 0; ; i++ {
		m, err := recv()
		switch {
		case err == io.EOF && i == perStream:
			return nil
		case err == io.EOF:
			return fmt.Errorf("%w: the stream ended after %d messages", errWrong, i)
		case err != nil:
			return err
		case numberOf(m.Payload) != i:
			return fmt.Errorf("%w: message %d has number %d", errWrong, i, numberOf(m.Payload))
		}
		works(ctx)
	}
}

// calling returns what the tasks of clients do.
func calling(client pb.TestServiceClient) map[string]func(context.Context) error {
	return map[string]func(ctx context.Context) error{
		"unary": func(ctx context.Context) error {
			for i := range perStream {
				r, err := client.UnaryCall(ctx, &pb.SimpleRequest{Payload: numbered(i)})
				if err != nil {
					return err
				}
				if n := numberOf(r.Payload); n != i {
					return fmt.Errorf("%w: %d to %d", errWrong, n, i)
				}
				works(ctx)
			}
			return nil
		},
		"talk": func(ctx context.Context) error {
			s, err := client.FullDuplexCall(ctx)
			if err != nil {
				return err
			}
			sent := 0
			return whole(ctx, func() (*pb.StreamingOutputCallResponse, error) {
				if sent == perStream {
					return s.Recv()
				}
				if err := s.Send(&pb.StreamingOutputCallRequest{Payload: numbered(sent)}); err != nil && err != io.EOF {
					return nil, err // after io.EOF, Recv has the status
				}
				if sent++; sent == perStream {
					if err := s.CloseSend(); err != nil {
						return nil, err
					}
				}
				return s.Recv()
			})
		},
		"feed": func(ctx context.Context) error {
			s, err := client.StreamingOutputCall(ctx, &pb.StreamingOutputCallRequest{})
			if err != nil {
				return err
			}
			return whole(ctx, s.Recv)
		},
	}
}

// TestThrowsAtRandomMoments throws into clients and handlers of calls and streams at random
// moments. Each answer is whole or an error that tells of the throw, there is one connection all
// the time, and no handler, stream or goroutine is left.
func TestThrowsAtRandomMoments(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{QuietThrows: true})
	_, err := rt.RegisterPolicy(cocoon.Policy{
		Name: "chance", On: cocoon.Every(100 * time.Microsecond),
		Expr: `task.elapsed > duration("10us") and chance(0.02) ? throw("at random") : continue()`,
	})
	tasktest.Must(t, err)
	under, err := net.Listen("tcp", "127.0.0.1:0")
	tasktest.Must(t, err)
	l := &counted{Listener: under}
	var open atomic.Int32
	srv := grpc.NewServer(interceptors(rt, Options{})...)
	pb.RegisterTestServiceServer(srv, working(&open))
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	defer func() { srv.Stop(); <-served }()
	client := pb.NewTestServiceClient(dial(t, under.Addr().String(),
		grpc.WithChainUnaryInterceptor(UnaryClientInterceptor), grpc.WithChainStreamInterceptor(StreamClientInterceptor)))
	_, err = client.UnaryCall(patient(t), &pb.SimpleRequest{Payload: numbered(0)}) // connects
	for status.Code(err) == codes.ResourceExhausted {
		_, err = client.UnaryCall(patient(t), &pb.SimpleRequest{Payload: numbered(0)})
	}
	tasktest.Must(t, err)
	goroutines := runtime.NumGoroutine()
	for name, call := range calling(client) {
		t.Run(name, func(t *testing.T) {
			var ended, inClient, inServer atomic.Int64
			var all sync.WaitGroup
			for range 4 {
				all.Go(func() {
					for most := int64(longtest.Count(500, 50)); inClient.Load() < most || inServer.Load() < most; {
						err := rt.Run(context.Background(), "client", call)
						var throw *cocoon.PreemptedError
						switch {
						case err == nil:
							ended.Add(1)
						case errors.As(err, &throw):
							inClient.Add(1)
						case status.Code(err) == codes.ResourceExhausted:
							inServer.Add(1)
						default:
							t.Errorf("a client ended with %v", err)
							return
						}
					}
				})
			}
			all.Wait()
			t.Logf("%d ended well, %d were thrown into, %d heard of a throw into the handler", ended.Load(), inClient.Load(), inServer.Load())
			tasktest.Eventually(t, "the end of all handlers", func() bool { return open.Load() == 0 && rt.Stats().Tasks == 0 })
			tasktest.Eventually(t, "as many goroutines as before", func() bool { return runtime.NumGoroutine() <= goroutines+1 }) // this one
			if n := l.n.Load(); n != 1 {
				t.Errorf("%d connections; want one", n)
			}
		})
	}
}
