package policy

import "github.com/cocoon-go/cocoon/internal/ir"

// Error is the reason why the text of a policy is refused. Error() is one line; the verb %+v also
// prints the marked line. Its fields:
//
//	Text      string // the policy's text
//	Line, Col int    // of the marked place; both count from 1, columns in characters
//	Pos, End  int    // the marked place, as byte offsets in Text
//	Reason    string
//	Hint      string // what to write instead; may be empty
//	NoState   string // the unregistered state; may be empty
//	NoFunc    string // the unregistered function; may be empty
type Error = ir.Error
