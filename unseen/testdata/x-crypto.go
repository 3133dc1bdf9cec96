package scrypt_test

import (
	"context"

	"github.com/cocoon-go/cocoon/unseen/victim"
	"golang.org/x/crypto/scrypt"
)

func init() {
	victim.Run(func(context.Context) (any, error) {
		return scrypt.Key([]byte("unseen"), []byte("salt"), 1<<14, 8, 1, 32)
	})
}
