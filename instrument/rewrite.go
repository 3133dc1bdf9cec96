package instrument

import "go/ast"

// The import's name in user packages; no identifier has it.
const (
	alias    = "cocoon_safepoint"
	pollCall = alias + ".Poll();"
)

func (r *rewriter) rewrite() (*Result, error) {
	res := &Result{Files: map[string][]byte{}}
	for _, f := range r.files {
		ast.Inspect(f.tree, func(n ast.Node) bool {
			var body *ast.BlockStmt
			switch n := n.(type) {
			case *ast.ForStmt:
				body = n.Body
			case *ast.RangeStmt:
				body = n.Body
			}
			if body != nil {
				r.stats.Loops++
				r.stats.LoopPolls++
				f.edits.insert(r.set.Position(body.Lbrace).Offset+1, pollCall)
			}
			return true
		})
		if len(f.edits) > 0 {
			f.edits.insert(r.set.Position(f.tree.Name.End()).Offset, `; import `+alias+` "`+module+`/safepoint"`)
			res.Files[f.path] = f.edits.apply(f.src)
		}
	}
	res.Stats = r.stats
	return res, nil
}
