//go:build !unix

package main

import "net/http"

var systemWaitings []waiting

func addSystemHandlers(map[string]http.Handler, around) {}
