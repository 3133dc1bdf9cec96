package openpgp_test

import (
	"bytes"
	"context"
	"io"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
	"github.com/cocoon-go/cocoon/unseen/victim"
)

func init() {
	text := victim.Text(50_000)
	victim.Run(func(context.Context) (any, error) {
		who, err := openpgp.NewEntity("unseen", "", "unseen@example.com", &packet.Config{RSABits: 1024})
		if err != nil {
			return nil, err
		}
		var b bytes.Buffer
		w, err := openpgp.Encrypt(&b, []*openpgp.Entity{who}, who, nil, &packet.Config{DefaultCompressionAlgo: packet.CompressionZLIB})
		if err != nil {
			return nil, err
		}
		if _, err := io.WriteString(w, text); err != nil {
			return nil, err
		}
		if err := w.Close(); err != nil {
			return nil, err
		}
		m, err := openpgp.ReadMessage(&b, openpgp.EntityList{who}, nil, nil)
		if err != nil {
			return nil, err
		}
		back, err := io.ReadAll(m.UnverifiedBody)
		return []any{string(back), m.SignatureError}, err
	})
}
