module github.com/cocoon-go/cocoon/cocoonhttp/wire

go 1.25.0

replace github.com/cocoon-go/cocoon => ../../

require (
	github.com/cocoon-go/cocoon v0.0.0
	github.com/summerwind/h2spec v2.2.1+incompatible
	golang.org/x/net v0.54.0
)

require (
	github.com/expr-lang/expr v1.17.8 // indirect
	github.com/fatih/color v1.19.0 // indirect
	github.com/fsnotify/fsnotify v1.10.1 // indirect
	github.com/mattn/go-colorable v0.1.14 // indirect
	github.com/mattn/go-isatty v0.0.20 // indirect
	github.com/tetratelabs/wazero v1.12.0 // indirect
	golang.org/x/sys v0.45.0 // indirect
	golang.org/x/text v0.37.0 // indirect
	gopkg.in/yaml.v3 v3.0.1 // indirect
)
