package main

const (
	sqlite = "github.com/glebarez/sqlite@v1.11.0"
	driver = "github.com/glebarez/go-sqlite@v1.21.2"
)

// libraries is the table of make unseen.
var libraries = []library{
	{name: "goja", kind: "interpreter", module: "github.com/dop251/goja@v0.0.0-20260917113740-793a2a65c13b"},
	{name: "otto", kind: "interpreter", module: "github.com/robertkrimen/otto@v0.5.1"},
	{name: "gopher-lua", kind: "interpreter", module: "github.com/yuin/gopher-lua@v1.1.2"},
	{name: "tengo", kind: "interpreter", module: "github.com/d5/tengo/v2@v2.17.0",
		kept: "a lock that a deferred call releases: a throw passes it 20 ms late"},
	{name: "starlark", kind: "interpreter", module: "go.starlark.net@v0.0.0-20260908191801-89a6a09411d5", pkg: "starlark"},
	{name: "yaegi", kind: "interpreter", module: "github.com/traefik/yaegi@v0.16.1", pkg: "interp"},
	{name: "gojq", kind: "interpreter", module: "github.com/itchyny/gojq@v0.12.20"},
	{name: "jsonnet", kind: "interpreter", module: "github.com/google/go-jsonnet@v0.22.0"},
	{name: "cel", kind: "interpreter", module: "cel.dev/cel-go@v0.32.0", pkg: "cel"},
	{name: "expr", kind: "interpreter", module: "github.com/expr-lang/expr@v1.17.8"},
	{name: "gval", kind: "interpreter", module: "github.com/PaesslerAG/gval@v1.2.4"},
	{name: "casbin", kind: "interpreter", module: "github.com/casbin/casbin/v2@v2.135.0"},
	{name: "opa", kind: "interpreter", module: "github.com/open-policy-agent/opa@v1.22.4", pkg: "v1/rego",
		kept: "`Rego.Eval`, the last call of the operation, is kept"},

	{name: "brotli", kind: "codec", module: "github.com/andybalholm/brotli@v1.2.8"},
	{name: "zstd", kind: "codec", module: "github.com/klauspost/compress@v1.20.3", pkg: "zstd"},
	{name: "lz4", kind: "codec", module: "github.com/pierrec/lz4/v4@v4.1.33"},
	{name: "xz", kind: "codec", module: "github.com/ulikunitz/xz@v0.5.17",
		kept: "`make` of buffers of 8 to 32 MB"},
	{name: "protobuf", kind: "codec", module: "google.golang.org/protobuf@v1.36.12", pkg: "proto"},
	{name: "msgpack", kind: "codec", module: "github.com/vmihailenco/msgpack/v5@v5.4.1"},
	{name: "cbor", kind: "codec", module: "github.com/fxamacker/cbor/v2@v2.10.0"},
	{name: "go-json", kind: "codec", module: "github.com/goccy/go-json@v0.12.0"},
	{name: "jsoniter", kind: "codec", module: "github.com/json-iterator/go@v1.1.12"},
	{name: "imaging", kind: "codec", module: "github.com/disintegration/imaging@v1.6.2"},
	{name: "excelize", kind: "codec", module: "github.com/xuri/excelize/v2@v2.11.1"},

	{name: "gorm", kind: "orm", module: "gorm.io/gorm@v1.31.2", with: []string{sqlite}},
	{name: "bun", kind: "orm", module: "github.com/uptrace/bun@v1.2.15", pkg: "schema",
		with: []string{"github.com/uptrace/bun/dialect/sqlitedialect@v1.2.15", driver}},

	{name: "chi", kind: "router", module: "github.com/go-chi/chi/v5@v5.5.0"},
	{name: "gin", kind: "router", module: "github.com/gin-gonic/gin@v1.12.0"},
	{name: "echo", kind: "router", module: "github.com/labstack/echo/v4@v4.16.0"},

	{name: "pongo2", kind: "template", module: "github.com/flosch/pongo2/v6@v6.0.0"},
	{name: "jet", kind: "template", module: "github.com/CloudyKit/jet/v6@v6.3.3"},
	{name: "raymond", kind: "template", module: "github.com/aymerick/raymond@v2.0.2+incompatible", with: []string{"gopkg.in/yaml.v2@v2.4.0"}},
	{name: "liquid", kind: "template", module: "github.com/osteele/liquid@v1.6.0"},
	{name: "mustache", kind: "template", module: "github.com/cbroglie/mustache@v1.4.2"},

	{name: "goldmark", kind: "parser", module: "github.com/yuin/goldmark@v1.8.7"},
	{name: "blackfriday", kind: "parser", module: "github.com/russross/blackfriday/v2@v2.1.0"},
	{name: "yaml", kind: "parser", module: "gopkg.in/yaml.v3@v3.0.1"},
	{name: "toml", kind: "parser", module: "github.com/BurntSushi/toml@v1.6.0"},
	{name: "regexp2", kind: "parser", module: "github.com/dlclark/regexp2@v1.12.0"},
	{name: "go-diff", kind: "parser", module: "github.com/sergi/go-diff@v1.4.0", pkg: "diffmatchpatch"},
	{name: "gomarkdown", kind: "parser", module: "github.com/gomarkdown/markdown@v0.0.0-20261107153045-a51d70be185e"},
	{name: "sqlparser", kind: "parser", module: "github.com/xwb1989/sqlparser@v0.0.0-20180606152119-120387863bf2"},
	{name: "dns", kind: "parser", module: "github.com/miekg/dns@v1.1.73"},

	{name: "bbolt", kind: "database", module: "go.etcd.io/bbolt@v1.5.0"},
	{name: "goleveldb", kind: "database", module: "github.com/syndtr/goleveldb@v1.0.0", pkg: "leveldb"},
	{name: "buntdb", kind: "database", module: "github.com/tidwall/buntdb@v1.3.0",
		kept: "a lock that each transaction holds to its end"},
	{name: "memdb", kind: "database", module: "github.com/hashicorp/go-memdb@v1.3.5"},
	{name: "bigcache", kind: "database", module: "github.com/allegro/bigcache/v3@v3.1.0"},
	{name: "otter", kind: "database", module: "github.com/maypok86/otter/v2@v2.4.0"},
	{name: "bleve", kind: "database", module: "github.com/blevesearch/bleve/v2@v2.6.3"},

	{name: "gocron", kind: "scheduler", module: "github.com/go-co-op/gocron/v2@v2.21.2"},

	{name: "edwards25519", kind: "crypto", module: "filippo.io/edwards25519@v1.2.0"},

	{name: "zombiezen", kind: "client", module: "zombiezen.com/go/sqlite@v1.4.2", pkg: "sqlitex"},
	{name: "puddle", kind: "client", module: "github.com/jackc/puddle/v2@v2.2.3"},
}
