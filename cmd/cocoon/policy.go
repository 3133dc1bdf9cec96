package main

import (
	"fmt"
	"io"
	"strings"
)

// policyVerbs are the subverbs of policy.
var policyVerbs = []verb{
	{"check", "what is wrong with policies", runCheck(false)},
	{"explain", "what they read, what they can do, and what they cost at most", runCheck(true)},
	{"test", "run tests of policies", runPolicyTests},
	{"diff", "what a server would change that loads another document", fileVerb("diff", diffUsage, runDiff)},
	{"fmt", "write documents as they are usually written", fileVerb("fmt", fmtUsage, runFmt)},
	{"schema", "the JSON Schema of documents, for editors", fileVerb("schema", schemaUsage, runSchema)},
}

func runPolicy(args []string, s streams) int {
	if len(args) == 0 {
		fmt.Fprintf(s.err, "cocoon policy: say one of %s; run cocoon policy -h for help\n", policyVerbNames())
		return exitUsage
	}
	switch args[0] {
	case "-h", "-help", "--help", "help":
		policyUsage(s.out)
		return exitOK
	}
	for _, v := range policyVerbs {
		if v.name == args[0] {
			return v.run(args[1:], s)
		}
	}
	fmt.Fprintf(s.err, "cocoon policy: %q is none of %s; run cocoon policy -h for help\n", args[0], policyVerbNames())
	return exitUsage
}

func policyVerbNames() string {
	var names []string
	for _, v := range policyVerbs {
		names = append(names, v.name)
	}
	return strings.Join(names, ", ")
}

func policyUsage(w io.Writer) {
	fmt.Fprint(w, "usage: cocoon policy SUBVERB ...\n\nsubverbs:\n")
	for _, v := range policyVerbs {
		fmt.Fprintf(w, "  %-8s %s\n", v.name, v.summary)
	}
	fmt.Fprint(w, "\ncocoon policy SUBVERB -h tells more. docs/policy.md describes the language and the documents.\n"+
		"Exit codes: 0 all is well, 1 something was found, 2 wrong use or unreadable input.\n")
}
