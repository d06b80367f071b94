# Parley. `make run` serves, `make test` checks everything; a second run does only what is new.

RELEASE := .build/release
SWIFT_BUILD := swift build --configuration release --static-swift-stdlib

.DEFAULT_GOAL := help
.PHONY: run build test bench soak endure lint format migrations dist dist-check packages clean help

run: build ## build and serve on http://localhost:8080, with everything kept in ./data
	@echo "Serving; stop with Ctrl-C. PARLEY_LISTEN and PARLEY_DATA choose another address and folder"
	@exec $(RELEASE)/parley serve

build: packages ## build the release binaries, Swift runtime linked in
	@echo "Building the release"
	@$(SWIFT_BUILD)

test: ## install what the tests need and run them all; one part: Tests/run NAME
	@Tests/tools/debian python3
	@Tests/run

bench: build ## measure beside nginx, uWebSockets, matrix-synapse, ejabberd, NATS and C on sqlite3 in one run
	@Tests/bench/run

soak: build ## load one server for MINUTES=10 and watch its memory and descriptors; send it 2 GB
	@Tests/bench/soak $(or $(MINUTES),10)
	@PARLEY_LARGE_FILE=2000 Tests/clients/run test_files

endure: packages ## crash, cut the power and fuzz TIMES=20 as often as the tests do
	@Tests/endure $(or $(TIMES),20)

lint: ## check the Swift code's format, warnings as errors
	@echo "Checking the format of the Swift code"
	@swift format lint --strict --recursive --parallel Package.swift Sources Tests

format: ## put the Swift code in the agreed format
	@echo "Formatting the Swift code"
	@swift format --in-place --recursive --parallel Package.swift Sources Tests

migrations: ## write the hashes of the migrations into the sources
	@Tests/tools/debian python3
	@Tests/tools/migrations

dist: build ## make the archive that runs on a Debian 12 without Swift
	@docker/dist

dist-check: dist ## start the archive in a bare Debian 12 and ask it for its health
	@Tests/tools/debian python3
	@docker/dist-check

packages: # what the build needs
	@Tests/tools/debian libsqlite3-dev libssl-dev zlib1g-dev pkg-config
	@Tests/tools/swift

clean: ## remove what was built; ./data stays
	@echo "Removing .build and dist"
	@rm -rf .build dist

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
