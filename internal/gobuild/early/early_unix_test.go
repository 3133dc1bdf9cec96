//go:build unix

package early

import (
	"strings"
	"testing"
)

func TestTool(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"cocoon toolexec -others -- /go/link -o a b.a", "/go/link -o a b.a"},
		{"cocoon toolexec -package=a/... -- /go/compile -V=full", "/go/compile -V=full"},
		{"cocoon toolexec -others -- /bin/time /go/asm a.s", "/bin/time /go/asm a.s"},
		{"cocoon toolexec -others -- /go/compile -p a -cocoon=key a.go", ""},
		{"cocoon toolexec -others -- /go/compile -cocoon.tested=key a.go", ""},
		{"cocoon toolexec -others -- gcc -x c -", "gcc -x c -"},
		{"cocoon toolexec -others --", ""},
		{"cocoon toolexec -others /go/link", ""},
		{"cocoon toolexec", ""},
		{"cocoon run -- /go/link", ""},
		{"cocoon", ""},
	} {
		if got := strings.Join(tool(strings.Fields(c.args)), " "); got != c.want {
			t.Errorf("%s runs %q early; want %q", c.args, got, c.want)
		}
	}
}
