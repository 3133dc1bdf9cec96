package hclsyntax_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/cocoon-go/cocoon/unseen/victim"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

func init() {
	var text strings.Builder
	for i := range 300 {
		fmt.Fprintf(&text, "a%d = [for x in numbers : \"item ${x * %d}\" if x > 3]\n", i, i)
	}
	numbers := cty.ListVal([]cty.Value{cty.NumberIntVal(1), cty.NumberIntVal(5), cty.NumberIntVal(7)})
	victim.Run(func(context.Context) (any, error) {
		file, diagnostics := hclsyntax.ParseConfig([]byte(text.String()), "unseen.hcl", hcl.InitialPos)
		if diagnostics.HasErrors() {
			return nil, diagnostics
		}
		attributes, diagnostics := file.Body.JustAttributes()
		if diagnostics.HasErrors() {
			return nil, diagnostics
		}
		sum := 0
		for _, a := range attributes {
			v, diagnostics := a.Expr.Value(&hcl.EvalContext{Variables: map[string]cty.Value{"numbers": numbers}})
			if diagnostics.HasErrors() {
				return nil, diagnostics
			}
			for _, element := range v.AsValueSlice() {
				sum += len(element.AsString())
			}
		}
		return sum, nil
	})
}
