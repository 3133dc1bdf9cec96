package document

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/cocoon-go/cocoon/internal/longtest"
	"github.com/cocoon-go/cocoon/internal/snippet"
)

// schema is as much of JSON Schema as schema.json uses; an unknown word fails the test.
type schema struct {
	root     map[string]any
	t        *testing.T
	patterns map[string]*regexp.Regexp
}

func (s schema) pattern(text string) *regexp.Regexp {
	if s.patterns[text] == nil {
		s.patterns[text] = regexp.MustCompile(text)
	}
	return s.patterns[text]
}

func newSchema(t *testing.T) schema {
	t.Helper()
	s := schema{t: t, patterns: map[string]*regexp.Regexp{}}
	if err := json.Unmarshal(Schema, &s.root); err != nil {
		t.Fatal(err)
	}
	return s
}

// takes reports whether the value is valid.
func (s schema) takes(v any) bool { return s.valid(s.root, v) }

func (s schema) valid(rules map[string]any, v any) bool {
	for word, rule := range rules {
		if !s.rule(rules, word, rule, v) {
			return false
		}
	}
	return true
}

func (s schema) rule(rules map[string]any, word string, rule, v any) bool {
	sub := func(x any) func(any) bool { return func(v any) bool { return s.valid(x.(map[string]any), v) } }
	object, isObject := v.(map[string]any)
	array, isArray := v.([]any)
	text, isText := v.(string)
	number, isNumber := v.(float64)
	switch word {
	case "$schema", "$id", "$defs", "title", "description":
	case "$ref":
		return s.valid(s.resolve(rule.(string)), v)
	case "type":
		return isType(rule, v)
	case "const":
		return reflect.DeepEqual(rule, v)
	case "enum":
		return slices.ContainsFunc(rule.([]any), func(x any) bool { return reflect.DeepEqual(x, v) })
	case "pattern":
		return !isText || s.pattern(rule.(string)).MatchString(text)
	case "minLength":
		return !isText || utf8.RuneCountInString(text) >= int(rule.(float64))
	case "exclusiveMinimum":
		return !isNumber || number > rule.(float64)
	case "dependentRequired":
		for k, needed := range rule.(map[string]any) {
			if _, ok := object[k]; ok && !s.rule(rules, "required", needed, v) {
				return false
			}
		}
	case "minimum":
		return !isNumber || number >= rule.(float64)
	case "maximum":
		return !isNumber || number <= rule.(float64)
	case "required":
		return !isObject || !slices.ContainsFunc(rule.([]any), func(k any) bool { _, ok := object[k.(string)]; return !ok })
	case "minProperties":
		return !isObject || len(object) >= int(rule.(float64))
	case "maxProperties":
		return !isObject || len(object) <= int(rule.(float64))
	case "propertyNames":
		for k := range object {
			if !sub(rule)(k) {
				return false
			}
		}
	case "properties":
		for k, x := range rule.(map[string]any) {
			if value, ok := object[k]; ok && !sub(x)(value) {
				return false
			}
		}
	case "additionalProperties":
		known, _ := rules["properties"].(map[string]any)
		for k, value := range object {
			if _, ok := known[k]; !ok && (rule == false || rule != false && !sub(rule)(value)) {
				return false
			}
		}
	case "minItems":
		return !isArray || len(array) >= int(rule.(float64))
	case "maxItems":
		return !isArray || len(array) <= int(rule.(float64))
	case "items":
		return !isArray || !slices.ContainsFunc(array, func(v any) bool { return !sub(rule)(v) })
	case "anyOf":
		return slices.ContainsFunc(rule.([]any), func(x any) bool { return sub(x)(v) })
	case "allOf":
		return !slices.ContainsFunc(rule.([]any), func(x any) bool { return !sub(x)(v) })
	case "not":
		return !sub(rule)(v)
	default:
		s.t.Fatalf("schema.json has %s, which this test does not know", word)
	}
	return true
}

func (s schema) resolve(ref string) map[string]any {
	at := s.root
	for name := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
		at = at[name].(map[string]any)
	}
	return at
}

func isType(rule, v any) bool {
	names, several := rule.([]any)
	if !several {
		names = []any{rule}
	}
	for _, name := range names {
		ok := false
		switch v := v.(type) {
		case map[string]any:
			ok = name == "object"
		case []any:
			ok = name == "array"
		case string:
			ok = name == "string"
		case bool:
			ok = name == "boolean"
		case float64:
			ok = name == "number" || name == "integer" && v == math.Trunc(v)
		}
		if ok {
			return true
		}
	}
	return false
}

// asJSON returns a document as what an editor would validate. It reports false for a text that is
// no YAML, or that JSON cannot say: a key twice, or no text, an infinite number.
func asJSON(n *yaml.Node) (v any, ok bool) {
	switch n.Kind {
	case yaml.MappingNode:
		object := map[string]any{}
		for i := 0; i < len(n.Content); i += 2 {
			value, ok := asJSON(n.Content[i+1])
			if _, twice := object[n.Content[i].Value]; !ok || twice || n.Content[i].ShortTag() != "!!str" {
				return nil, false
			}
			object[n.Content[i].Value] = value
		}
		return object, true
	case yaml.SequenceNode:
		array := []any{}
		for _, c := range n.Content {
			value, ok := asJSON(c)
			if !ok {
				return nil, false
			}
			array = append(array, value)
		}
		return array, true
	}
	switch n.ShortTag() {
	case "!!str":
		return n.Value, true
	case "!!bool":
		return n.Value == "true", true
	case "!!int", "!!float":
		var f float64
		err := n.Decode(&f)
		return f, err == nil && !math.IsNaN(f) && !math.IsInf(f, 0)
	}
	return nil, n.ShortTag() == "!!null"
}

// beyondSchema are the reasons for which the parser may refuse what the schema takes: they are
// about more than one value, or about texts that JSON Schema cannot describe.
var beyondSchema = regexp.MustCompile(strings.Join([]string{
	"there is another policy", "there is another limit", "is an event of the runtime", "matches no task", "has a star", "excepts every task", "excepts nothing", "has no effect, because the limit", "it is never evaluated", "is not between", "is not positive", "not printable text", "time limit:",
	"begins with 0", "too large", "invisible character", "anchors and aliases", "the tag", "has [0-9]+ bytes", "comment swallows", "the comma ends",
	"has [0-9]+ stars", "mean the same; write one of them", "policies match default", "never-unwind", "default stands for", "includes default",
	"stands where a whole number is wanted", // 1.0, which is the same as 1 to JSON
	"there is no zone", "a bucket takes",
	"a state is the string",             // a duration of 300 years
	"stands where a duration is wanted", // the same
}, "|"))

// compare asks parser and schema about a document.
func (s schema) compare(root *yaml.Node) {
	s.t.Helper()
	err := checkNodes(root)
	if err == nil {
		d := documentReader{doc: Document{States: map[string]any{}, Tasks: map[string]Class{}, parts: map[Part]declaration{}}}
		err = d.decode(root)
	}
	v, ok := asJSON(root)
	takes := ok && s.takes(v)
	if takes == (err == nil) || takes && beyondSchema.MatchString(err.Error()) {
		return
	}
	text, _ := yaml.Marshal(root)
	s.t.Errorf("%s\nthe schema takes it: %v; the parser says %v", snippet.Clip(string(text)), takes, err)
}

// parsed returns the root of a text, or nil if it is no YAML.
func parsed(text string) *yaml.Node {
	var doc yaml.Node
	if len(text) > MaxSize || yaml.Unmarshal([]byte(text), &doc) != nil || len(doc.Content) == 0 {
		return nil
	}
	return doc.Content[0]
}

func TestSchema(t *testing.T) {
	s := newSchema(t)
	for _, c := range refusedDocuments {
		if root := parsed(c.text); root != nil {
			s.compare(root)
		}
	}
	texts := []string{fullDocument, "version: 1\norder: fair\ntenants: {label: t, shares: {gold: 3}, max: 100}\nstates: {a: -1, b: 1e3, c: -1.5s, d: true}\n",
		"version: 1\nmode: observe\nlimits: [{func: default, limit: 1s, mode: off}]\npreemption: {on: enqueue, mode: observe}\ntasks: {default: safe}\n" +
			"policies: [{name: p, on: start, expr: e, match: {tasks: ['a*'], except: [ab]}, state: {n: {first: 1, per: loop}, m: 1s}}]\n",
		"version: 1\nstates: {a: {first: 1s, keys: 10, ttl: 1m, by: [name, int]}, c: {first: 1, keys: 1, by: int}, b: {rate: 0.5, burst: 10}}\npolicies: [{name: p, on: start, expr: e, state: {n: {rate: 2, burst: 2, keys: 5, ttl: 1s, per: loop}}}]\n"}
	texts = append(texts, "version: 1\ncanary: {share: 0.1, by: task.labels.user, rollback: {window: 30s, throws: 5, failed: 0.05, queueing: 1.5}}\n")
	for _, b := range regexp.MustCompile("(?ms)^```yaml\n(.*?)^```$").FindAllStringSubmatch(readDoc(t), -1) {
		texts = append(texts, b[1])
	}
	files, err := filepath.Glob("../*/testdata/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.yaml") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	for _, text := range texts {
		if _, err := Read(strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
		mutants(parsed(text), s.compare)
	}
}

// replacements stand for any value of a document, in its mutants.
var replacements = []string{"1", "-1", "0", "1.5", "true", "text", "100ms", "-5s", "0s", `""`, "null", "[]", "{}", "[start]", "[text]", "[1]", "{a: 1}",
	"{a: text}", "enqueue", "tick", "safe", "waits", "observe", "9223372036854775807", "2147483648", `"0"`, "1m30s", "5", "a-b", "\"a b\"", "99999999999999999999", "70000",
	"atomic", "preemptible", "both", "block", "unblock", "exit", "custom", "enforce", "off", "fifo", "priority", "deadline", "shortest", "fair"}

// mutants tries a document, and those in which one value, or key, is another or is missing. The
// short form replaces each value by every fourth replacement, and the next value by the next ones.
func mutants(root *yaml.Node, try func(*yaml.Node)) {
	try(root)
	var others []*yaml.Node
	for _, r := range replacements {
		others = append(others, parsed(r))
	}
	at, step := 0, longtest.Count(1, 4)
	var visit func(n *yaml.Node)
	visit = func(n *yaml.Node) {
		was := *n
		for ; at < len(others); at += step {
			*n = *others[at]
			try(root)
		}
		at = (at + 1) % step
		*n = was
		if n.Kind == yaml.MappingNode {
			content := n.Content
			for i := 0; i < len(content); i += 2 {
				n.Content = slices.Concat(content[:i], content[i+2:])
				try(root)
				n.Content = content
				key := *content[i]
				for _, name := range []string{"zzz", "on", "event", "every", ""} {
					content[i].Value, content[i].Style = name, yaml.DoubleQuotedStyle
					try(root)
				}
				*content[i] = key
			}
		}
		for i, c := range n.Content {
			if n.Kind != yaml.MappingNode || i%2 == 1 {
				visit(c)
			}
		}
	}
	visit(root)
}

// TestSchemaHasAllKeys compares the keys of each mapping with those that the parser knows.
func TestSchemaHasAllKeys(t *testing.T) {
	s := newSchema(t)
	policies := s.root["properties"].(map[string]any)["policies"].(map[string]any)["items"].(map[string]any)
	property := func(rules map[string]any, name string) map[string]any {
		return rules["properties"].(map[string]any)[name].(map[string]any)
	}
	task := property(s.root, "tasks")["additionalProperties"].(map[string]any)["anyOf"].([]any)[1].(map[string]any)
	for text, rules := range map[string]map[string]any{
		"zzzzzzzzzz: 1": s.root,
		"limits: [{func: f, limit: 1s, zzzzzzzzzz: 1}]":                          property(s.root, "limits")["items"].(map[string]any),
		"preemption: {zzzzzzzzzz: 1}":                                            property(s.root, "preemption"),
		"canary: {share: 1, zzzzzzzzzz: 1}":                                      property(s.root, "canary"),
		"canary: {share: 1, rollback: {zzzzzzzzzz: 1}}":                          property(property(s.root, "canary"), "rollback"),
		"tenants: {label: t, zzzzzzzzzz: 1}":                                     property(s.root, "tenants"),
		"tasks: {a: {zzzzzzzzzz: 1}}":                                            task,
		"never-unwind: [{name: f, zzzzzzzzzz: 1}]":                               property(s.root, "never-unwind")["items"].(map[string]any)["anyOf"].([]any)[1].(map[string]any),
		"policies: [{name: p, on: start, expr: e, zzzzzzzzzz: 1}]":               policies,
		"policies: [{name: p, on: start, expr: e, match: {zzzzzzzzzz: 1}}]":      property(policies, "match"),
		"policies: [{name: p, on: start, expr: e, state: {n: {zzzzzzzzzz: 1}}}]": s.resolve("#/$defs/declaredState"),
		"states: {n: {zzzzzzzzzz: 1}}":                                           s.resolve("#/$defs/declaredState"),
	} {
		_, err := Read(strings.NewReader("version: 1\n" + text + "\n"))
		keys := slices.Sorted(maps.Keys(rules["properties"].(map[string]any)))
		if want := "there is " + strings.Join(keys, ", "); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: the parser says %v; the schema %s", text, err, fmt.Sprint(keys))
		}
	}
}
