# CI runs make check. `make` alone lists all targets.

DATA      ?= ../shared/data
SOAKTIME  ?= 30m
HOSTILETIME ?= 20s
CLUSTERTIME ?= 5m
FUZZTIME  ?= 1h
GO        ?= go
KILLS     ?= 5000
BIN       := bin/tooldex
TOGETHER  ?= 10m
RUNS      ?= 10000
TOOLS     ?= 100000
VERSION   ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
TOOL      := $(GO) tool -modfile=tools/linters/go.mod
DOWNLOADS ?= file://$(abspath dist)
COMMIT    ?= $(shell git rev-parse HEAD 2>/dev/null)
# $(call tool,NAME) builds a program of the module in tools and runs it here, at the top of the repository.
tool       = $(GO) -C tools build -o $(abspath bin/tools)/ ./$(1) && bin/tools/$(1)
RELEASE    = $(call tool,release)
STAMP     := -version $(VERSION) -commit '$(COMMIT)'
export TOOLDEX_DATA := $(abspath $(DATA))

.DEFAULT_GOAL := help
.PHONY: help build tools test check format tidy vet lint race fuzz fuzzed corpus bench bench-engines compare-peers bench-large bench-large-one bench-changes soak soaked cluster-test hostile mutants quality clean-machine docs screenshots train train-scanner knowledge confidence coverage nightly chart platforms release release-verify sbom licences vuln image image-check clean

help: ## list the targets
	@grep -E '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

build: ## build bin/tooldex, static and without symbols
	$(RELEASE) binary $(STAMP) -o $(BIN)

tools: ## build the programs of the module in tools, as bin/tools/NAME
	$(GO) -C tools build -o $(abspath bin/tools)/ ./...

test: ## run all tests once
	$(GO) test ./...
	$(GO) -C tools test ./...

# The load test mostly waits and fuzzing uses every processor, so they run side by side.
# The linters include the checks of go vet.
check: format tidy lint race ## required before every merge
	@$(MAKE) --no-print-directory -j2 --output-sync=target fuzzed soaked

format: ## list files that gofumpt would change
	@out=$$($(TOOL) gofumpt -l $$(git ls-files --cached --others --exclude-standard '*.go' | grep -v /testdata/)); \
	if [ -n "$$out" ]; then echo "run gofumpt -w on:"; echo "$$out"; exit 1; fi

tidy: ## each module requires what it uses and nothing else
	$(GO) mod tidy -diff
	$(GO) -C tools mod tidy -diff
	$(GO) -C tools/linters mod tidy -diff

vet: ## run go vet
	$(GO) vet ./...
	$(GO) -C tools vet ./...

# actionlint needs another version of a module than golangci-lint, so it is not in the linters' module.
lint: ## run the linters of .golangci.yml, and that of the workflows
	$(TOOL) golangci-lint run ./...
	cd tools && $(GO) tool -modfile=linters/go.mod golangci-lint run ./...
	$(GO) run github.com/rhysd/actionlint/cmd/actionlint@v1.7.12 -shellcheck= -pyflakes=

# With -short, tests that wait for other programs (npm servers, a browser) or compute for long are skipped; "make test" runs them.
# Only the packages that start goroutines are tested, of this module and of that in tools.
GOROUTINES = $$(grep -rlE --include='*.go' '^\s*go |\.Go\(|\.Parallel\(' . | grep -vE '/testdata/|^\./tools/' | xargs -n1 dirname | sort -u)
race: ## run the short tests in random order under the race detector
	$(GO) test -race -short -shuffle=on -vet=off $(GOROUTINES)
	cd tools && $(GO) test -race -short -shuffle=on -vet=off $(GOROUTINES)

fuzz: ## run each fuzz target for FUZZTIME, one per processor at a time
	FUZZTIME=$(FUZZTIME) GO='$(GO)' tools/fuzz.sh

fuzzed: ## the part of make check: 3 seconds each, two per processor
	@JOBS=$$((2 * $$(getconf _NPROCESSORS_ONLN))) $(MAKE) --no-print-directory fuzz FUZZTIME=3s

corpus: ## fuzz, and keep the smallest inputs that reach new code as test inputs
	KEEP=12 FUZZTIME=$(FUZZTIME) GO='$(GO)' tools/fuzz.sh

bench: build ## measure speed and size of bin/tooldex; writes docs/benchmarks.md
	$(call tool,bench) -bin $(BIN) -data $(DATA) -out docs/benchmarks.md speed

bench-engines: build ## time searches beside bleve, chromem and scans at 1,165, 10,000 and 100,000 tools; writes docs/engines.md
	$(call tool,bench) -bin $(BIN) -data $(DATA) -out docs/engines.md engines

compare-peers: build ## install other gateways from npm and Go's proxy, ask them and tooldex the same, ten minutes; writes docs/peers.md
	$(call tool,bench) -bin $(BIN) -data $(DATA) -out docs/peers.md peers

bench-large: build ## measure catalogues of 1,165 to TOOLS tools, ten minutes (with 1000000 hours, and 20 GB of disk); writes docs/benchmarks-large.md
	$(call tool,bench) -bin $(BIN) -data $(DATA) -tools $(TOOLS) -out docs/benchmarks-large.md large

bench-large-one: build ## measure the catalogue of TOOLS tools alone (1165, 10000, 100000 or 1000000: an hour, and 20 GB of disk); prints the page, or writes it to PAGE
	$(call tool,bench) -bin $(BIN) -data $(DATA) -tools $(TOOLS) -only -out "$(PAGE)" large

bench-changes: build ## compare memory after 10,000 changes of 1,165 tools with that after an import, ten minutes; writes docs/benchmarks-changes.md
	$(call tool,bench) -bin $(BIN) -data $(DATA) -tools 1165 -out docs/benchmarks-changes.md changes

soaked: ## the part of make check: two minutes of load and faults
	$(GO) build -o bin/soaked ./cmd/tooldex
	$(call tool,soak) -bin bin/soaked -time 2m

soak: build ## load and faults for SOAKTIME, KILLS kills, RUNS random runs of the store, four processes for TOGETHER, 100,000 questions about what others may see; writes docs/soak.md and docs/deaths.md
	$(call tool,soak) -bin $(BIN) -time $(SOAKTIME) -out docs/soak.md
	@echo "At commit $$(git describe --always --dirty), on $$(date -u +%F):" | tee bin/deaths.log >bin/together.log
	$(GO) test ./cmd/tooldex -count 1 -timeout 4h -v -run '^(TestKilled|TestKilledServing|TestDamagedFiles|TestConnectSpoiled)$$' -kills $(KILLS) >>bin/deaths.log
	$(GO) test ./store -count 1 -timeout 4h -v -run '^TestModel$$' -runs $(RUNS) >>bin/deaths.log
	$(GO) test ./cmd/tooldex -count 1 -timeout 2h -v -run '^TestFourProcesses$$' -together $(TOGETHER) >>bin/together.log
	tools/deaths.sh bin/deaths.log bin/together.log >docs/deaths.md
	TOOLDEX_SOAK=1 $(GO) test ./serve -count 1 -timeout 4h -v -run '^(TestPermissions|TestTenants|TestManyTenants)$$'

cluster-test: build ## load and faults for three replicas, PostgreSQL with a standby, and HAProxy, for CLUSTERTIME, as root; writes docs/cluster.md
	$(call tool,soak) -bin $(BIN) -cluster -time $(CLUSTERTIME) $(if $(wildcard $(DATA)/catalogue),-data $(DATA)) -out docs/cluster.md

hostile: build ## one hostile server beside nine good ones, each attack for HOSTILETIME; writes docs/hostile.md
	$(call tool,soak) -bin $(BIN) -hostile -time $(HOSTILETIME) -out docs/hostile.md

mutants: ## remove the protections of tools/mutants one by one, and run the tests that must notice; writes docs/mutants.md
	$(call tool,mutants) -out docs/mutants.md

quality: build ## measure every labelled set of DATA; writes docs/quality.md and docs/scanner.md
	$(call tool,bench) -bin $(BIN) -data $(DATA) -out docs/quality.md quality
	TOOLDEX_DATA=$(abspath $(DATA)) $(GO) test ./scan -count 1 -run '^TestPage$$' -update

clean-machine: ## clone and run the README's first commands without home or caches; writes docs/first-answer.md
	$(call tool,bench) -out docs/first-answer.md first tests

docs: ## regenerate the pages of docs/reference that come from the program
	$(GO) test ./cmd/tooldex -run '^(TestReference|TestSchemaIsPublished)' -update

screenshots: ## retake the screenshots in docs/panel with Chromium
	mkdir -p docs/panel
	$(GO) test ./cmd/tooldex -count 1 -run '^TestPanel$$' -shots $(abspath docs/panel)

train: ## train the embedding table on DATA, and compile the knowledge with it
	$(call tool,train) -data $(DATA) -knowledge knowledge/data -out embed/table.bin
	$(MAKE) knowledge

train-scanner: ## train the scanner's weights on scan/examples, scan/result-examples and DATA
	$(call tool,train) -data $(DATA) -examples scan/examples -knowledge knowledge/data -scanner scan/weights.bin
	bin/tools/train -examples scan/examples -passages scan/result-examples -scanner scan/result_weights.bin

knowledge: ## compile knowledge/data; run after it or the embedding table changes
	$(call tool,compile-knowledge) -data knowledge/data -out knowledge/base.bin

confidence: ## fit when an answer is confident; run after make knowledge
	$(call tool,fit-confidence) -knowledge knowledge/data -out search

coverage: ## write docs/knowledge/coverage.md, what is known of each kind of server
	mkdir -p docs/knowledge
	$(call tool,lint-knowledge) -coverage knowledge/data >docs/knowledge/coverage.md

arm64: ## check that vectors, rankings and knowledge have the same bits on arm64; needs qemu-user-static
	GOARCH=arm64 CGO_ENABLED=0 $(GO) test -exec qemu-aarch64-static ./internal/vector ./embed
	GOARCH=arm64 CGO_ENABLED=0 $(GO) -C tools test -exec qemu-aarch64-static ./compile-knowledge
	GOARCH=arm64 CGO_ENABLED=0 $(GO) test -exec qemu-aarch64-static -run Golden ./search

nightly: check arm64 chart ## long checks: make check, fuzzing, Go benchmarks, vulnerabilities, reproducible builds, replicas; as root
	$(MAKE) fuzz FUZZTIME=5m
	$(GO) test -run '^$$' -bench . -benchmem -count 10 ./... | tee bench.out
	$(TOOL) benchstat bench.out
	$(MAKE) vuln release-verify cluster-test

chart: ## have Helm lint the chart, and Kubernetes' schemas check the manifests that it makes
	GOBIN=$(abspath bin) $(GO) install helm.sh/helm/v3/cmd/helm@v3.18.6
	GOBIN=$(abspath bin) $(GO) install sigs.k8s.io/kubectl-validate@v0.0.4
	PATH="$(abspath bin):$$PATH" $(GO) -C tools test ./release -count 1 -run '^TestChart$$' -v

platforms: ## compile for each platform; make check only type-checks them
	@set -e; for p in linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64; do \
	  echo $$p; $(RELEASE) binary -platform $$p -o /dev/null; \
	done

release: ## write archives, packages, bills of materials and checksums to dist; DOWNLOADS is the address of the archives
	rm -rf dist
	$(RELEASE) archives $(STAMP) -downloads $(DOWNLOADS) -o dist

release-verify: ## build twice, from two folders and with empty caches, and compare all bits
	$(RELEASE) verify $(STAMP)

sbom: build ## write the bill of materials of bin/tooldex beside it, as CycloneDX
	$(RELEASE) sbom $(STAMP) -o $(BIN).cdx.json $(BIN)

licences: ## list the licences of linked modules; fails if one is not allowed or not in NOTICE
	$(RELEASE) licences
	$(GO) -C tools test ./release -count 1 -run '^TestLicen'

vuln: ## check for known vulnerabilities; GOVULNDB sets the database
	GO='$(GO)' tools/vuln.sh

image: ## build the container image with Docker, or the program named by DOCKER
	$(or $(DOCKER),docker) build --build-arg VERSION=$(VERSION) --build-arg COMMIT=$(COMMIT) -t tooldex:$(VERSION) .

image-check: ## build the Dockerfile with buildah and run the program it makes, where there is no engine; needs root
	GO='$(GO)' tools/image-check.sh $(VERSION)

clean: ## remove build output
	rm -rf bin bench.out
