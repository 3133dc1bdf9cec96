package analyzer

import (
	"errors"

	"github.com/cocoon-go/cocoon/policy/document"
)

// VainCanary returns a warning about a canary that compares nothing, because all tasks or none get
// its policies; or nil. An author may set such a share to turn a canary off or on.
func VainCanary(c *document.Canary) error {
	switch {
	case c == nil:
		return nil
	case c.Share == 0:
		return errors.New("the share is 0, so no task gets the new policies; write a share above 0, or load the old document")
	case c.Share == 1:
		return errors.New("the share is 1, so all tasks get the new policies, and none is left to compare with; leave canary out to promote it, or write a share below 1")
	}
	return nil
}
