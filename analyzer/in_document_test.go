package analyzer

import (
	"strings"
	"testing"

	"github.com/cocoon-go/cocoon/policy/document"
	"github.com/cocoon-go/cocoon/stubs"
)

// Declarations of a document that most likely say something else than their author means, each
// with one that is right.
func TestInDocument(t *testing.T) {
	labelled := members(t, declared, on(stubs.Enqueue, `arriving.labels.user == "x" and queue.length > 9 ? throw("x") : continue()`))
	for _, c := range []struct{ text, want string }{
		{"canary: {share: 0}", "no task gets"},
		{"canary: {share: 0.1}", ""},
		{"canary: {share: 1}", "all tasks get"},
		{"canary: {share: 0.1, rollback: {window: 1m}}", "rollback has no condition"},
		{"canary: {share: 0.1, rollback: {window: 1m, throws: 5}}", ""},
		{"canary: {share: 0.1, rollback: {failed: 0.05}}", ""},
		{"canary: {share: 0.1, by: task.labels.usr}", `did you mean "user"?`},
		{"canary: {share: 0.1, by: task.labels.users}", `did you mean "user"?`},
		{"canary: {share: 0.1, by: task.labels.user}", ""},
		{"canary: {share: 0.1, by: task.labels.region}", ""},
		{"canary: {share: 0.1, by: task.labels.tiers}\ntasks: {a: {labels: {tier: gold}}}", `did you mean "tier"?`},
		{"canary: {share: 0.1, by: task.labels.tennant}\ntenants: {label: tenant}", `did you mean "tenant"?`},
		{"tasks: {default: waits}", "run without a slot"},
		{"tasks: {'*': {kind: waits}}", "run without a slot"},
		{"tasks: {default: safe, GET /events: waits, 'GET /live/*': waits}", ""},
		{"never-unwind: [main]", "main is the package"},
		{"never-unwind: [main.save, example.com/main]", ""},
		{"tasks: {a: {labels: {tier: g\u043eld}}}", "U+043E"},
		{"tasks: {a: {labels: {t\u0456er: gold}}}", "U+0456"},
		{"tasks: {a: {labels: {tier: gold}}}", ""},
		{"tenants: {label: t, shares: {\u0430cme: 3}}", "U+0430"},
		{"tenants: {label: t\u0435nant}", "U+0435"},
		{"tenants: {label: t, shares: {acme: 3, акме: 1}}", ""},
		{"never-unwind: [gorm.io/g\u043erm]", "U+043E"},
		{"canary: {share: 0.1, by: task.labels.us\u0435r}", "U+0435"},
	} {
		d, err := document.Read(strings.NewReader("version: 1\n" + c.text + "\n"))
		if err != nil {
			t.Fatal(c.text, err)
		}
		got, texts := InDocument(d, labelled, d.Tasks), ""
		for _, r := range got {
			texts += r.Err.Error()
		}
		if (c.want == "") != (len(got) == 0) || len(got) > 1 || !strings.Contains(texts, c.want) {
			t.Errorf("%s: %s, want %q", c.text, texts, c.want)
		}
		for _, r := range got {
			if line, _ := d.Place(r.Part); line == 0 {
				t.Errorf("%s: %v is not in the document", c.text, r.Part)
			}
		}
	}
}
