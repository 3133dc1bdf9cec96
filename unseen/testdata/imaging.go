package imaging

import (
	"bytes"
	"context"
	"crypto/sha256"
	"image"
	"image/color"

	"github.com/cocoon-go/cocoon/unseen/victim"
)

func init() {
	picture := image.NewNRGBA(image.Rect(0, 0, 600, 400))
	for i := range 600 * 400 {
		picture.Set(i%600, i/600, color.NRGBA{uint8(i), uint8(i / 7), uint8(i / 600), 255})
	}
	victim.Run(func(context.Context) (any, error) {
		var b bytes.Buffer
		if err := Encode(&b, Blur(Resize(picture, 300, 0, Lanczos), 2), PNG); err != nil {
			return nil, err
		}
		got, err := Decode(&b)
		if err != nil {
			return nil, err
		}
		return sha256.Sum256(Clone(got).Pix), nil
	})
}
