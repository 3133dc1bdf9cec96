// Package cocoongrpc makes each call of a gRPC server a task, so that policies can see the call,
// refuse it, let other calls go first, or stop it:
//
//	load := cocoongrpc.NewLoad(rt.Loop())
//	o := cocoongrpc.Options{Load: load}
//	srv := grpc.NewServer(
//		orca.CallMetricsServerOption(load), // first
//		grpc.ChainUnaryInterceptor(cocoongrpc.UnaryServerInterceptor(rt, o)),
//		grpc.ChainStreamInterceptor(cocoongrpc.StreamServerInterceptor(rt, o)),
//	)
//
// The task is named by the call's full method, "/shop.Items/Get", and a policy document uses this
// name under tasks, limits and match. The context of the handler carries the task, for
// [cocoon.SafePoint], [cocoon.Section] and [cocoon.Block].
//
// # Waiting
//
// A handler gives its slot back while it waits for a message of its stream, or for room to send
// one; these waits are safe points. [UnaryClientInterceptor] and [StreamClientInterceptor] give the
// slot back during calls that a handler makes. Use [cocoon.Block] for every other call that waits.
// A unary call's request is read and decoded before its task begins, and its response is encoded
// and sent after the task has ended.
//
// # Load reports
//
// [Load] reports the server's load to balancers, with responses and out of band, which then send
// the next calls to other servers.
//
// # Other interceptors
//
// Place the server's interceptors close to the handlers. They belong inside interceptors that
// recover panics, which would otherwise log a throw as a panic, and inside interceptors that
// measure.
package cocoongrpc
