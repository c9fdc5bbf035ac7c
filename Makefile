# Onyx for Jupyter. `make` lists the targets. Needed on the machine: Python 3.11 or newer, Node 20 or newer, make, git.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
LAB_ARGS ?=
SECURITY_ARGS ?=
PYTEST_ARGS ?=
# The model that set-up downloads for all users of this environment: 1.5b (1.1 GB), 0.5b (0.5 GB) or none.
ONYX_SETUP_MODEL ?= 1.5b

# The fast checks for work in progress.
UNIT_TESTS := $(addprefix tests/,agent cell_mode config human_requests memory sessions security skills)

# Some images disable bytecode; here the same programs start again and again.
unexport PYTHONDONTWRITEBYTECODE

BIN := .venv/bin
STAMPS := .make
COMPILE = .uv/bin/uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	--no-emit-find-links --no-annotate --custom-compile-command "make lock" --quiet $(LOCK_ARGS)
# Sources of the front end, and files that an installation copies from the checkout: a change there makes the
# stamp stale. Python code needs none: the installation is editable.
LAB_SOURCES := $(shell find labextension -type f -not -path '*/node_modules/*' -not -path 'labextension/lib/*' \
	-not -name '*.tsbuildinfo' -not -name '*.test.ts*' 2>/dev/null)
SHARED_DATA := install.json $(shell find workspace notebooks/skills jupyter-config -type f 2>/dev/null)

.DEFAULT_GOAL := help
.PHONY: help setup build lab check check-python test test-lab test-python lint format types security bench docs wheel check-wheel lock clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Environment, locked dependencies, local model, front end, extension switched on
	@$(MAKE) --no-print-directory -j2 $(STAMPS)/package $(STAMPS)/model-$(ONYX_SETUP_MODEL)

build: setup ## The same: rebuilds the front end where its sources changed

lab: setup ## Start JupyterLab with Onyx, the example open, state in .lab/ (LAB_ARGS="--port=9000 --no-browser")
	@bash scripts/lab.sh $(LAB_ARGS)

check: setup ## In a minute or so: lint, types, and the tests that need no server, kernel or browser
	@$(MAKE) --no-print-directory --output-sync=target -j2 check-python lint types test-lab

check-python: setup
	$(BIN)/python -m pytest -q $(UNIT_TESTS)

test: setup test-lab test-python ## All tests: front end, Python, browser (PYTEST_ARGS="-k socket")

test-lab: setup
	cd labextension && npm test

test-python: setup test-lab
	@bash scripts/run_pytest.sh $(PYTEST_ARGS)

lint: setup ## ruff, import contract, front-end linter
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	cd labextension && npm run lint --if-present

format: setup ## Let ruff format and fix what it can
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

types: setup ## mypy, tsc, and what is generated for the front end is current
	$(BIN)/mypy
	cd labextension && npm run types
	$(BIN)/python -m onyx_jupyter.server.wire_types --check
	$(BIN)/python -m onyx_jupyter.server.action_words_ts --check
	$(BIN)/python -m onyx_jupyter.security.character_tables --check

security: setup $(STAMPS)/audit ## Security tests, bandit, known vulnerabilities (SECURITY_ARGS="code packages tests")
	@bash scripts/security.sh $(SECURITY_ARGS)

bench: setup ## Measure the figures that the project promises
	$(BIN)/python benchmarks/run.py

docs: $(STAMPS)/docs ## Build the documentation into site/; dead links and pages outside the navigation are errors
	rm -rf site
	.docs/bin/python -m sphinx --fresh-env --fail-on-warning --quiet -c docs -d .docs/doctrees . site
	@echo "Built: site/index.html"

wheel: setup ## Build wheel and sdist into dist/, with a fresh front end
	rm -rf dist onyx_jupyter/labextension labextension/lib
	cd labextension && PATH="$(CURDIR)/$(BIN):$$PATH" npm run build
	HATCH_JUPYTER_BUILDER_SKIP_NPM=1 $(BIN)/python -m hatchling build -d dist -t sdist -t wheel

check-wheel: wheel ## Install that wheel into a plain environment: both halves are on
	$(BIN)/python -m pytest -m packaging -p no:cacheprovider

lock: $(STAMPS)/uv ## Resolve requirements/dev.lock, audit.lock and docs.lock again (LOCK_ARGS="--upgrade")
	$(COMPILE) pyproject.toml --group dev -o requirements/dev.lock
	$(COMPILE) --group audit -o requirements/audit.lock
	$(COMPILE) --group docs -o requirements/docs.lock

clean: ## Remove the environment, the build output and the stamps (.lab/ stays: it holds conversations)
	rm -rf .venv .uv .audit .docs $(STAMPS) dist build site onyx_jupyter/labextension labextension/lib labextension/node_modules
	rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache test-results

# Set-up in steps, each with a stamp, so that a second `make` costs nothing. Python and npm packages install side by side.

$(STAMPS)/uv:
	@mkdir -p $(STAMPS)
	@bash scripts/python_env.sh tool "$(PYTHON)"
	@touch $@

$(STAMPS)/python: $(STAMPS)/uv requirements/dev.lock
	@bash scripts/python_env.sh dependencies "$(PYTHON)"
	@touch $@

# In parallel with the front end. Without a network it prints one line, and the next `make` tries again.
$(STAMPS)/model-%: $(STAMPS)/python
	@if $(BIN)/python -m onyx_jupyter.providers.local_files.setup_download $*; then touch $@; fi

$(STAMPS)/audit $(STAMPS)/docs: $(STAMPS)/%: $(STAMPS)/uv requirements/%.lock
	@bash scripts/python_env.sh $* "$(PYTHON)"
	@touch $@

$(STAMPS)/npm: labextension/package-lock.json
	@mkdir -p $(STAMPS)
	cd labextension && npm ci --no-audit --no-fund
	@touch $@

$(STAMPS)/labextension: $(STAMPS)/python $(STAMPS)/npm $(LAB_SOURCES)
	cd labextension && PATH="$(CURDIR)/$(BIN):$$PATH" npm run build
	@touch $@

$(STAMPS)/package: $(STAMPS)/labextension pyproject.toml $(SHARED_DATA)
	@bash scripts/python_env.sh package "$(PYTHON)"
	@touch $@
