// A main package that loads documents from files; errors are in those, see TestDocuments.
package main

import (
	"context"
	"embed"
	_ "embed"
	"os"
	"path/filepath"
	"strings"

	"github.com/cocoon-go/cocoon/cocoon"
	"policyhelp"
)

//go:embed embedded.yaml
var text string

var (
	//go:embed embedded_bytes.yaml
	raw []byte

	//go:embed conf
	files embed.FS
)

func Alarm() {}

func main() {
	rt, err := cocoon.New(cocoon.Config{})
	err = rt.RegisterState(map[string]any{"registered": 1.5})
	err = rt.RegisterSafeFunc(Alarm)
	err = rt.LoadPolicies(strings.NewReader(text))
	err = policyhelp.Load(rt, string(raw))
	err = policyhelp.Load(rt, policyhelp.Shared)
	err = rt.LoadPolicyFile("file.yaml")
	err = rt.LoadPolicyFile(filepath.Join("conf", "joined.yaml"))
	err = rt.WatchPolicyFile(context.Background(), "watched.yaml")
	f, err := files.Open("conf/opened.yaml")
	err = rt.LoadPolicies(f)
	data, err := os.ReadFile("conf/read.yaml")
	err = rt.LoadPolicies(strings.NewReader(string(data)))
	_ = err
}
