package zstd_test

import (
	"context"
	"crypto/sha256"

	"github.com/cocoon-go/cocoon/unseen/victim"
	"github.com/klauspost/compress/zstd"
)

// The coders are shared, and keep their workers in channels.
var (
	unseenEncoder, _ = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(2), zstd.WithEncoderLevel(zstd.SpeedBestCompression))
	unseenDecoder, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(2))
)

func init() {
	text := []byte(victim.Text(10_000))
	victim.Run(func(context.Context) (any, error) {
		packed := unseenEncoder.EncodeAll(text, nil)
		back, err := unseenDecoder.DecodeAll(packed, nil)
		return []any{len(packed), sha256.Sum256(back)}, err
	})
}
