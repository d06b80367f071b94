# Parley. `make run` serves, `make test` runs all tests. A second run rebuilds only what has changed.

RELEASE := .build/release
BUNDLE := Public/app/pages
BUNDLED := Public/index.html Public/pages.js $(shell find Public/css Public/js Public/lang -type f -not -name '*.d.ts')
DOCS := Public/docs/index.html
DOCUMENTED := Public/openapi.json Public/asyncapi.json Public/css/tokens.css CHANGELOG.md $(shell find Documentation)
TYPES := Public/js/parley/api.d.ts
SWIFT_BUILD := swift build --configuration release --static-swift-stdlib

.DEFAULT_GOAL := help
.PHONY: run build bundle test bench soak endure lint format migrations sample dist deb release dist-check packages clean help

run: build ## build and serve on http://localhost:8080, data in ./data
	@echo "Serving; stop with Ctrl-C. PARLEY_LISTEN and PARLEY_DATA choose another address and folder"
	@exec $(RELEASE)/parley serve

build: packages bundle ## build the web app, the documentation and the release binaries, Swift runtime linked in
	@echo "Building the release"
	@$(SWIFT_BUILD)

bundle: $(BUNDLE) $(DOCS) $(TYPES) # the scripts and styles of the web app, the pages of /docs, the types of the JavaScript library

$(BUNDLE): $(BUNDLED) Tests/tools/webapp
	@Tests/tools/debian esbuild python3 zopfli
	@echo "Bundling the web app"
	@Tests/tools/webapp

$(DOCS): $(DOCUMENTED)
	@Tests/tools/debian python3
	@echo "Building the documentation"
	@Documentation/build

$(TYPES): Public/openapi.json Public/js/parley/endpoints.js docker/js-types
	@Tests/tools/debian python3
	@echo "Writing the types of the JavaScript library"
	@docker/js-types

test: ## install the test tools and run all tests; one part: Tests/run NAME
	@Tests/tools/debian python3
	@Tests/run

bench: build ## measure beside nginx, uWebSockets, matrix-synapse, ejabberd, NATS and C on sqlite3 in one run
	@Tests/bench/run

soak: build ## load one server for MINUTES=10 and watch its memory and descriptors; send it 2 GB; all Autobahn cases; look at every page
	@Tests/bench/soak $(or $(MINUTES),10)
	@PARLEY_LARGE_FILE=2000 Tests/clients/run test_files
	@Tests/autobahn/run --all
	@Tests/bench/run --smoke
	@PARLEY_THOROUGH=1 Tests/web/run browser
	@Tests/web/run sheets

endure: packages ## crash, cut the power, fuzz and play schedules far more often than the tests do: TIMES=20
	@Tests/endure $(or $(TIMES),20)

lint: ## check the format of the Swift code and the words of comments and commits
	@Tests/tools/words
	@echo "Checking the format of the Swift code"
	@swift format lint --strict --recursive --parallel Package.swift Sources Tests Examples

format: ## put the Swift code in the agreed format
	@echo "Formatting the Swift code"
	@swift format --in-place --recursive --parallel Package.swift Sources Tests Examples

migrations: ## write the hashes of the migrations into the sources
	@Tests/tools/debian python3
	@Tests/tools/migrations

sample: build ## freeze the migrations: write a site of this version for the tests of later ones, Tests/Releases/VERSION
	@Tests/tools/sample

dist: build ## make the archive and the package for a Debian 12 without Swift, the JavaScript library, and checksums
	@docker/dist
	@docker/deb
	@docker/js-package
	@docker/checksums

deb: build ## make the package for Debian 12 alone
	@docker/deb

release: build ## make the archive and the packages and sign them: make release KEY=FILE
	@docker/release "$(KEY)"

dist-check: dist ## start the archive and the package in a bare Debian 12, and check the package with lintian
	@Tests/tools/debian python3
	@docker/dist-check

packages: # Debian packages of the build
	@Tests/tools/debian libsqlite3-dev libssl-dev zlib1g-dev pkg-config
	@Tests/tools/swift

clean: ## remove build products; ./data stays
	@echo "Removing .build, dist, Public/app, Public/docs and $(TYPES)"
	@rm -rf .build dist Public/app Public/docs $(TYPES)

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
