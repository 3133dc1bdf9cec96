package cocoondebug_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/cocoondebug"
)

func ExampleHandler() {
	rt, err := cocoon.New(cocoon.Config{Slots: 2})
	if err != nil {
		panic(err)
	}
	defer rt.Shutdown(context.Background())

	admin := http.NewServeMux() // serve it where only operators can reach it
	admin.Handle("localhost/debug/cocoon/", cocoondebug.Handler(rt, cocoondebug.Options{}))

	w := httptest.NewRecorder()
	admin.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost:6060/debug/cocoon/?format=json", nil))
	var s cocoondebug.Snapshot
	if err := json.Unmarshal(w.Body.Bytes(), &s); err != nil {
		panic(err)
	}
	fmt.Println("loop", s.Loops[0].Name, "with", s.Loops[0].Slots, "slots in mode", s.Mode)

	w = httptest.NewRecorder() // another name for the same address
	admin.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://elsewhere.example:6060/debug/cocoon/", nil))
	fmt.Println("elsewhere.example:", w.Code)
	// Output:
	// loop default with 2 slots in mode enforce
	// elsewhere.example: 404
}
