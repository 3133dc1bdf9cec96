//go:build !cgo || !(linux || darwin) || !(amd64 || arm64)

package main

// wasmtimes is empty: wasmtime-go needs cgo, and its library is for few platforms.
var wasmtimes []opener
