package edwards25519

import (
	"context"
	"crypto/sha512"
	"encoding/binary"
	"fmt"

	"github.com/cocoon-go/cocoon/unseen/victim"
)

func init() {
	victim.Run(func(context.Context) (any, error) {
		scalars, points := make([]*Scalar, 1000), make([]*Point, 1000)
		for i := range scalars {
			hash := sha512.Sum512(binary.BigEndian.AppendUint64(nil, uint64(i)))
			s, err := NewScalar().SetUniformBytes(hash[:])
			if err != nil {
				return nil, err
			}
			scalars[i], points[i] = s, new(Point).ScalarBaseMult(s)
		}
		sum := new(Point).VarTimeMultiScalarMult(scalars, points)
		return fmt.Sprintf("%x", sum.Bytes()), nil
	})
}
