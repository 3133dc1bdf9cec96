package cocoongrpc

import (
	"context"
	"encoding/pem"
	"errors"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	pb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/status"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// service is gRPC's test service. Its messages can be of any size. Methods that a test does not set
// are unimplemented.
type service struct {
	pb.UnimplementedTestServiceServer
	unary func(context.Context, *pb.SimpleRequest) (*pb.SimpleResponse, error)
	empty func(context.Context) error
	talk  func(pb.TestService_FullDuplexCallServer) error
	feed  func(pb.TestService_StreamingOutputCallServer) error
}

// Full names of the service's methods.
const (
	unaryMethod = "/grpc.testing.TestService/UnaryCall"
	emptyMethod = "/grpc.testing.TestService/EmptyCall"
	talkMethod  = "/grpc.testing.TestService/FullDuplexCall"
	feedMethod  = "/grpc.testing.TestService/StreamingOutputCall"
)

func (s *service) UnaryCall(ctx context.Context, r *pb.SimpleRequest) (*pb.SimpleResponse, error) {
	return s.unary(ctx, r)
}

func (s *service) EmptyCall(ctx context.Context, _ *pb.Empty) (*pb.Empty, error) {
	return &pb.Empty{}, s.empty(ctx)
}

func (s *service) FullDuplexCall(stream pb.TestService_FullDuplexCallServer) error {
	return s.talk(stream)
}

func (s *service) StreamingOutputCall(_ *pb.StreamingOutputCallRequest, stream pb.TestService_StreamingOutputCallServer) error {
	return s.feed(stream)
}

// interceptors returns the server options that run calls as tasks.
func interceptors(tasks Runner, o Options) []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.ChainUnaryInterceptor(UnaryServerInterceptor(tasks, o)),
		grpc.ChainStreamInterceptor(StreamServerInterceptor(tasks, o)),
	}
}

// listen serves on a loopback socket until the end of the test, and returns the address.
func listen(t testing.TB, srv *grpc.Server) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	tasktest.Must(t, err)
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	t.Cleanup(func() {
		srv.Stop()
		// A test that connects no client may end before Serve has begun.
		if err := <-served; err != nil && !errors.Is(err, grpc.ErrServerStopped) {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

// dial returns a client of target.
func dial(t testing.TB, target string, opts ...grpc.DialOption) *grpc.ClientConn {
	t.Helper()
	opts = append([]grpc.DialOption{grpc.WithTransportCredentials(insecure.NewCredentials())}, opts...)
	conn, err := grpc.NewClient(target, opts...)
	tasktest.Must(t, err)
	t.Cleanup(func() { conn.Close() })
	return conn
}

// serve serves the service as tasks, and returns a client of it.
func serve(t testing.TB, tasks Runner, o Options, s *service) pb.TestServiceClient {
	t.Helper()
	srv := grpc.NewServer(interceptors(tasks, o)...)
	pb.RegisterTestServiceServer(srv, s)
	return pb.NewTestServiceClient(dial(t, listen(t, srv)))
}

// patient returns a context that ends after tasktest.Patience.
func patient(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), tasktest.Patience)
	t.Cleanup(cancel)
	return ctx
}

// echo responds to a unary call with its payload.
func echo(_ context.Context, r *pb.SimpleRequest) (*pb.SimpleResponse, error) {
	return &pb.SimpleResponse{Payload: r.Payload}, nil
}

// loadPolicies loads a policy document.
func loadPolicies(t testing.TB, rt *cocoon.Runtime, document string) {
	t.Helper()
	tasktest.Must(t, rt.LoadPolicies(strings.NewReader("version: 1\n"+document)))
}

func wantCode(t testing.TB, err error, code codes.Code) *status.Status {
	t.Helper()
	st := status.Convert(err)
	if st.Code() != code {
		t.Errorf("got %v; want %v", err, code)
	}
	return st
}

// writeCertificate writes the certificate of a test server to a file, and returns its name.
func writeCertificate(t testing.TB, s *httptest.Server) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "server.pem")
	tasktest.Must(t, os.WriteFile(name, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600))
	return name
}
