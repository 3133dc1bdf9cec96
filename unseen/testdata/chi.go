package chi_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/cocoon-go/cocoon/unseen/victim"
	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
)

func init() {
	var router http.Handler
	victim.Run(func(context.Context) (any, error) {
		if router == nil {
			r := chi.NewRouter()
			r.Use(middleware.RequestID, middleware.Recoverer, middleware.Compress(5))
			for i := range 50 {
				r.Get(fmt.Sprintf("/group%d/items/{id:[0-9]+}/parts/{part}", i), func(w http.ResponseWriter, r *http.Request) {
					fmt.Fprintln(w, chi.URLParam(r, "id"), chi.URLParam(r, "part"))
				})
			}
			router = r
		}
		sum := 0
		for i := range 2000 {
			w := httptest.NewRecorder()
			router.ServeHTTP(w, httptest.NewRequest("GET", fmt.Sprintf("/group%d/items/%d/parts/x%d", i%50, i, i), nil))
			sum += w.Body.Len() + w.Code
		}
		return sum, nil
	})
}
