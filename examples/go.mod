module github.com/cocoon-go/cocoon/examples

go 1.25.0

replace github.com/cocoon-go/cocoon => ..

require (
	github.com/cocoon-go/cocoon v0.0.0
	github.com/dlclark/regexp2 v1.12.0
	github.com/tetratelabs/wazero v1.12.0
	go.etcd.io/bbolt v1.5.0
)

require (
	github.com/expr-lang/expr v1.17.8 // indirect
	github.com/fsnotify/fsnotify v1.10.1 // indirect
	golang.org/x/sys v0.45.0 // indirect
	gopkg.in/yaml.v3 v3.0.1 // indirect
)
