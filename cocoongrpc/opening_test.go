package cocoongrpc

import (
	"context"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	pb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

// TestStatusDuringSend checks that a client gets the status of a throw that arrives during the
// stream's first send. A client reads no message before the header, so the header must come first.
func TestStatusDuringSend(t *testing.T) {
	for transport, connect := range map[string]func(testing.TB, *grpc.Server, ...grpc.DialOption) *grpc.ClientConn{"own": own, "net/http": netHTTP} {
		t.Run(transport, func(t *testing.T) {
			encoding, refusing := make(chan *cocoon.Task, 1), make(chan struct{})
			slow := strings.Repeat("é", 1<<17) // gRPC encodes it after it has marked the header as sent
			refuse := func(context.Context, string, error) error {
				close(refusing)
				return status.Error(codes.Canceled, slow)
			}
			codec := codecFunc(func(m any) {
				if _, ok := m.(*pb.StreamingOutputCallResponse); ok {
					<-refusing
					time.Sleep(5 * time.Millisecond) // the status begins
				}
			})
			srv := grpc.NewServer(append(interceptors(tasktest.Start(t, cocoon.Config{}), Options{Refuse: refuse}), grpc.ForceServerCodec(codec))...)
			pb.RegisterTestServiceServer(srv, &service{talk: func(s pb.TestService_FullDuplexCallServer) error {
				encoding <- cocoon.TaskOf(s.Context())
				return sendAll(s)
			}})
			stream, err := pb.NewTestServiceClient(connect(t, srv)).FullDuplexCall(patient(t))
			tasktest.Must(t, err)
			task := tasktest.Receive(t, "the task", encoding)
			time.Sleep(10 * time.Millisecond) // it sends
			task.Cancel()
			for err == nil {
				_, err = stream.Recv()
			}
			wantCode(t, err, codes.Canceled)
		})
	}
}

// TestThrowDuringFirstSend checks that a client gets the status of a throw, although a first send
// of its stream is in code that waits for the end of the stream, or on a goroutine that the throw
// leaves behind.
func TestThrowDuringFirstSend(t *testing.T) {
	sends := make(chan bool, 1)
	for name, talk := range map[string]func(pb.TestService_FullDuplexCallServer) error{
		"waits": func(s pb.TestService_FullDuplexCallServer) error {
			go func() {
				<-sends
				cocoon.TaskOf(s.Context()).Cancel()
			}()
			return s.Send(large)
		},
		"left behind": func(s pb.TestService_FullDuplexCallServer) error {
			go s.Send(large)
			<-sends
			return throwInto(s.Context())
		},
	} {
		t.Run(name, func(t *testing.T) {
			waits := func(service any, s grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler) error {
				return next(service, waitingStream{s, sends})
			}
			opts := append([]grpc.ServerOption{grpc.ChainStreamInterceptor(waits)}, interceptors(tasktest.Start(t, cocoon.Config{}), Options{})...)
			srv := grpc.NewServer(opts...)
			pb.RegisterTestServiceServer(srv, &service{talk: talk})
			stream, err := pb.NewTestServiceClient(own(t, srv)).FullDuplexCall(patient(t))
			tasktest.Must(t, err)
			_, err = stream.Recv()
			wantCode(t, err, codes.Canceled)
		})
	}
}

// waitingStream is a stream whose sends wait for its end.
type waitingStream struct {
	grpc.ServerStream
	sends chan<- bool
}

func (w waitingStream) SendMsg(any) error {
	w.sends <- true
	<-w.Context().Done()
	return w.Context().Err()
}

// codecFunc is gRPC's codec for protocol buffers. It is called before a message is encoded.
type codecFunc func(m any)

func (before codecFunc) Marshal(m any) ([]byte, error) {
	before(m)
	return proto.Marshal(m.(proto.Message))
}

func (codecFunc) Unmarshal(b []byte, m any) error { return proto.Unmarshal(b, m.(proto.Message)) }

func (codecFunc) Name() string { return "proto" }
