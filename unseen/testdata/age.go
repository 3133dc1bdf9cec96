package age_test

import (
	"bytes"
	"context"
	"io"

	"filippo.io/age"
	"github.com/cocoon-go/cocoon/unseen/victim"
)

func init() {
	text := victim.Text(100_000)
	victim.Run(func(context.Context) (any, error) {
		to, err := age.NewScryptRecipient("unseen")
		if err != nil {
			return nil, err
		}
		to.SetWorkFactor(12)
		var b bytes.Buffer
		w, err := age.Encrypt(&b, to)
		if err != nil {
			return nil, err
		}
		if _, err := io.WriteString(w, text); err != nil {
			return nil, err
		}
		if err := w.Close(); err != nil {
			return nil, err
		}
		identity, err := age.NewScryptIdentity("unseen")
		if err != nil {
			return nil, err
		}
		r, err := age.Decrypt(&b, identity)
		if err != nil {
			return nil, err
		}
		back, err := io.ReadAll(r)
		return string(back), err
	})
}
