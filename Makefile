.DEFAULT_GOAL := help

# How long the server of make soak is under load.
SOAK ?= 10m
# Which libraries make unseen tries: names or kinds, with commas between them; empty: all.
ONLY ?=
# Packages with fuzz tests; FUZZTIME is for each fuzz test.
FUZZTIME ?= 20s
# Random programs of make programs, and the seed of the first.
PROGRAMS ?= 100
SEED ?= 1
# A regular expression for make goroot: it matches a path and a kind, as in 'fixedbugs/.* run'.
GOROOT_TESTS ?= .
# For each protocol.
CHAOSTIME ?= 5m
STATICCHECK := GOWORK=off go tool -modfile=$(CURDIR)/tools/go.mod staticcheck

help: ## Show this help
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

test: ## Run all tests, some in a short form
	go test ./...

long: ## Run all tests in their long form
	COCOON_LONG=1 go test ./...

race: ## Run all tests under the race detector
	go test -race ./...

lint: ## Check format, go vet, cocoonvet and staticcheck
	@test -z "$$(gofmt -l .)" || { gofmt -d .; exit 1; }
	go vet ./...
	go run ./cmd/cocoonvet ./...
	$(STATICCHECK) ./...

bench: ## Measure every claimed figure beside its peers
	go run -C bench .

plots: ## Measure the figures that docs/img shows, and draw them (6 min)
	go run -C bench . -plot docs/img

hol: ## Run the head-of-line blocking example
	go run ./examples/hol

redos: ## Run the example of evil regular expressions
	go run ./cmd/cocoon run ./examples/redos

overload: ## Run the example of a server at twice its capacity
	go run -C examples/overload .

fuzz: ## Run every fuzz test for FUZZTIME each (default 20s)
	@for package in $$(go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}' ./...); do \
		for name in $$(go test -list '^Fuzz' $$package | grep '^Fuzz'); do \
			echo "$$package $$name"; \
			go test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) $$package || exit 1; \
		done; \
	done

explore: ## Check the scheduler's core over ten million random operations
	go test ./internal/sched -run Explore -sched.steps=10000000

chaos: ## Check each byte of HTTP responses for CHAOSTIME (default 5m): random handlers, throws, clients; raw scripts; h2spec
	go test ./cocoonhttp -run 'TestChaos|TestScripts' -timeout 0 -v -chaos.time=$(CHAOSTIME) -scripts=20000
	go test -C cocoonhttp/wire -v -h2spec .

soak: ## Keep a server over PostgreSQL and Redis under load and throws for SOAK (default 10m)
	cd cocoonsql/sqltest && go test -count 1 -v -timeout 0 -run '^TestSoak$$' -soak $(SOAK) .

programs: ## Compare PROGRAMS random programs (default 100), built by go and rewritten
	go test ./instrument -count 1 -v -timeout 0 -run TestRandomPrograms -programs $(PROGRAMS) -seed $(SEED)

goroot: ## Compare the Go distribution's tests that match GOROOT_TESTS (default: all), built by go and by cocoon
	go test ./internal/gobuild -count 1 -timeout 0 -v -run TestDistribution -goroot '$(GOROOT_TESTS)' | grep -v -e '^=== ' -e '--- PASS'

thirdparty: ## Run the tests of other people's packages, built by cocoon test
	.ci/thirdparty

ways: ## Build in every way that cocoon build knows: plugins, C libraries, sanitizers, other systems
	COCOON_LONG=1 go test ./internal/gobuild -count 1 -v -timeout 0 -run 'TestWays|TestVendored|TestOverlay|TestCoverage|TestPositionIndependent' -ways
unseen: ## Throw into operations of other people's libraries, and run their tests behind it (ONLY=names or kinds)
	go run -C unseen . -only '$(ONLY)'

ci: ## Run what the continuous integration runs
	.ci/run

.PHONY: help test long race lint bench plots hol redos overload fuzz explore chaos soak programs goroot thirdparty ways unseen ci
