package main

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// The page of the mode cocoon is served apart from the load, until it is closed.
func TestPage(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	for _, m := range modes {
		limited, stop, err := m.open(workHandler(1), new(actions), "")
		if err != nil {
			t.Fatal(err)
		}
		closePage, err := servePage(address, limited, handler(limited, new(actions)))
		if err != nil {
			t.Fatal(err)
		}
		text := ""
		if response, err := http.Get("http://" + address + pagePath); err == nil {
			body, _ := io.ReadAll(response.Body)
			response.Body.Close()
			text = string(body)
		}
		if has := strings.Contains(text, "urgent-first"); has != (m.Name == "cocoon") {
			t.Errorf("%s: the page has the policies: %v", m.Name, has)
		}
		if err := closePage(); err != nil {
			t.Error(err)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	}
	for given, want := range map[string]string{":8080": "127.0.0.1:8080", "0.0.0.0:1": "0.0.0.0:1", "8080": ""} {
		if got, err := pageAddress(given); got != want || (err == nil) != (want != "") {
			t.Errorf("%q is %q, %v; want %q", given, got, err, want)
		}
	}
}
