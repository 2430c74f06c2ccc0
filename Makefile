# cbactor: see README.md. Every target works from a fresh clone; `make test` needs
# no network once modules (and, for the goldens of real models, `make assets`) are there.
GO         ?= go
STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2
LDFLAGS     = -s -w
# The commit in `cbactor version`, where git can tell it, whatever GOFLAGS says.
BUILDVCS   := $(shell test -d .git && git status >/dev/null 2>&1 && echo -buildvcs=true)
PART       ?= all
PEERS      ?= $(HOME)/.cache/cbactor/peers
ROUNDS     ?= 5
.DEFAULT_GOAL = build

.PHONY: help build run test test-full test-families test-tokenizers test-templates test-gpu-emu gpu-check test-clients soak lint proto kernels cuda assets bench bench-compare clean

help: ## what there is to make
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/\1	\2/p' Makefile | expand -t 16

build: ## the command, bin/cbactor
	@test -e bin/cbactor || echo "building for the first time, which can take a minute or two"
	$(GO) build -trimpath $(BUILDVCS) -ldflags '$(LDFLAGS)' -o bin/cbactor ./cmd/cbactor

run: build ## several stories from the embedded model, side by side
	bin/cbactor generate --max-new-tokens 160 \
		--chat "Write a story about a kite." \
		--chat "Tell me a story about a clever frog and the moon." \
		--prompt "Once upon a time, a little fox" \
		--prompt "Lily and Tim went to the park."

test: build ## at most 8 minutes on two cores; prints the golden comparisons
	./test/run.sh test

test-full: ## at most 40 minutes: what .ci/run runs
	./test/run.sh full

test-families: ## every model family against the reference: name, cases, passed
	./test/families.sh

test-tokenizers: ## tokenizers against the reference: name, cases, passed (part of test-full)
	@$(GO) test -count=1 -v -run 'MatchTheReference|MatchesTheReference' ./text >test-tokenizers.log || { cat test-tokenizers.log; rm test-tokenizers.log; exit 1; }
	@sed -n 's/.*golden: //p; s/^ *--- SKIP: //p' test-tokenizers.log; rm test-tokenizers.log

test-templates: ## every chat template against the reference: name, cases, passed
	CBACTOR_REQUIRE_ASSETS=1 $(GO) test -count=1 -v -run 'TestTemplates$$|TestSnippets|TestLanguage' ./text/jinja

test-gpu-emu: ## what is for GPUs, without one, at most 12 minutes: kernels on two back ends, the executor on a fake driver, cubins compiled again
	CBACTOR_FULL=1 CBACTOR_REQUIRE_ASSETS=1 $(GO) test -count=1 -timeout 4m ./cuda/cubin
	CBACTOR_REQUIRE_ASSETS=1 $(GO) test -count=1 -timeout 6m ./cuda ./cuda/cublaslt ./cuda/emu ./cuda/kernels ./gpuexec/...
	CBACTOR_REQUIRE_ASSETS=1 $(GO) test -count=1 -timeout 2m -run 'OnA?GPU' ./engine -gpu-storms 4

gpu-check: ## what scripts/gpu-check runs on a machine with a GPU, built into bin/gpu-check
	./scripts/gpu-check-build

soak: build ## the long numbers; PART=first-light
	./test/soak.sh $(PART)

test-clients: build ## clients of others that take long to install; writes docs/reports/clients.md
	./test/clients/others.sh

lint: ## vet and staticcheck, as test-full runs them
	$(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...

cuda: ## the kernels of cuda/kernels/src, compiled into cuda/cubin: needs no GPU
	./cuda/build.sh

proto: ## the generated code of messages/
	cd messages/gen && $(GO) run .

kernels: ## the generated code of cpuexec/kernels/
	cd cpuexec/kernels/gen && $(GO) generate

assets: build ## fetches SmolLM2-135M-Instruct into the user's cache and checks it
	./test/assets.sh

bench: build ## the standard workloads on SmolLM2, one line each
	for w in single decode mixed shared; do bin/cbactor bench --model smollm2 --name $$w || exit 1; done

bench-compare: assets ## peers, which are installed into PEERS (8 GB), side by side; writes docs/performance.md
	bench/compare/setup.sh $(PEERS)
	bench/compare/compare.py --peers $(PEERS) --rounds $(ROUNDS) --out docs/performance/peers.json || [ $$? = 3 ] # 3: some have failed, as the page tells
	bench/compare/curves.py --out docs/performance/curves.json || [ $$? = 3 ]
	$(GO) run ./bench/report

clean:
	rm -rf bin
