package document

import (
	"strings"
	"testing"
)

// A match that lets no task through is refused, and so is an entry that an exception cancels.
func TestMatchOfNothing(t *testing.T) {
	for match, want := range map[string]string{
		`{tasks: [A], except: [A]}`:                       `match: "A" stands in tasks and in except, so it matches no task`,
		`{tasks: [A, B], except: [B]}`:                    `match: "B" stands in tasks and in except`,
		`{tasks: ["GET *", B], except: ["GET **"]}`:       `match: "GET *" stands in tasks and in except`,
		`{except: ["*"]}`:                                 `match.except: "*" excepts every task`,
		`{except: ["**", B]}`:                             `match.except: "**" excepts every task`,
		`{tasks: ["*"], except: ["*"]}`:                   `match: "*" stands in tasks and in except`,
		`{tasks: [A], except: ["*"]}`:                     "",
		`{tasks: ["GET *"], except: ["GET /health"]}`:     "",
		`{tasks: ["GET /health"], except: ["GET *"]}`:     "",
		`{tasks: ["a*b"], except: ["a*", "*b", "a*b*b"]}`: "",
		`{tasks: ["a*b"], except: ["a*b*c"]}`:             `match.except: "a*b*c" excepts nothing, because match.tasks has no such task`,
		`{tasks: ['a\*'], except: ["a*"]}`:                "",
		`{loops: [default, "bulk*"]}`:                     `match.loops: "bulk*" has a star, and loops are matched by whole names`,
		`{except: ["*a"]}`:                                "",
	} {
		text := "version: 1\npolicies: [{name: p, on: start, match: " + match + ", expr: 'throw(\"x\")'}]"
		_, err := Read(strings.NewReader(text))
		if got := errorText(err); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s:\n got %q\nwant %q", match, got, want)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
