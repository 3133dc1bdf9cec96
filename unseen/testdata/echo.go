package echo_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/cocoon-go/cocoon/unseen/victim"
	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
)

func init() {
	var router http.Handler
	victim.Run(func(context.Context) (any, error) {
		if router == nil {
			r := echo.New()
			r.Use(middleware.Gzip(), middleware.BodyLimit("1M"))
			for i := range 50 {
				r.GET(fmt.Sprintf("/group%d/items/:id/parts/:part", i), func(c echo.Context) error {
					return c.JSON(200, map[string]string{"id": c.Param("id"), "part": c.Param("part")})
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
