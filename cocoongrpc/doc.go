// Package cocoongrpc makes each call of a gRPC server a task, so that policies see it, may refuse
// it, let others go first, or stop it:
//
//	load := cocoongrpc.NewLoad(rt.Loop())
//	o := cocoongrpc.Options{Load: load}
//	srv := grpc.NewServer(
//		orca.CallMetricsServerOption(load), // first
//		grpc.ChainUnaryInterceptor(cocoongrpc.UnaryServerInterceptor(rt, o)),
//		grpc.ChainStreamInterceptor(cocoongrpc.StreamServerInterceptor(rt, o)),
//	)
//
// The task is named by the call's full method, "/shop.Items/Get", which is what a policy document
// calls it under tasks, limits and match. The context of the handler carries it, for
// cocoon.SafePoint, Section and Block.
//
// A handler gives its slot back while it waits for a message of its stream, or for room to send
// one: these are safe points. The client interceptors do the same for calls that a handler makes;
// cocoon.Block for all else that waits. A unary call's request is read and decoded before its task
// begins, and its answer encoded and sent after the task's end.
//
// Load tells balancers how loaded the server is, with answers and out of band, so that they send
// the next calls elsewhere.
//
// The server's interceptors belong close to the handlers: inside of what recovers panics, which
// would log a throw as a panic, and inside of what measures.
package cocoongrpc
