package jwt_test

import (
	"context"
	"fmt"
	"time"

	"github.com/cocoon-go/cocoon/unseen/victim"
	"github.com/lestrrat-go/jwx/v3/jwa"
	"github.com/lestrrat-go/jwx/v3/jwt"
)

func init() {
	key := []byte("0123456789abcdef0123456789abcdef")
	victim.Run(func(context.Context) (any, error) {
		sum := 0
		for i := range 300 {
			token, err := jwt.NewBuilder().Issuer("unseen").Subject(fmt.Sprint(i)).Expiration(time.Unix(1<<40, 0)).Claim("roles", []string{"a", "b"}).Build()
			if err != nil {
				return nil, err
			}
			text, err := jwt.Sign(token, jwt.WithKey(jwa.HS256(), key))
			if err != nil {
				return nil, err
			}
			back, err := jwt.Parse(text, jwt.WithKey(jwa.HS256(), key), jwt.WithIssuer("unseen"))
			if err != nil {
				return nil, err
			}
			subject, _ := back.Subject()
			sum += len(subject) + len(text)
		}
		return sum, nil
	})
}
