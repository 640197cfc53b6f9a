# The manual: `make` lists what there is.
.DEFAULT_GOAL := help
SHELL := /bin/bash

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
TSC := node_modules/.bin/tsc
# Real datasets for the tests that need some; without them those tests say that they were skipped.
DATA ?= $(wildcard ../shared/data)
export SOTTOVOCE_DATA ?= $(abspath $(DATA))

# The folders whose tests need no server process, Java, browser or PostgreSQL.
UNIT := $(addprefix tests/,model privacy mechanisms inference files tables datasets figures http_client crowdkit securesum \
	test_module_paths.py test_randomness.py docs/test_prose.py)

# Tests start Python a hundred times: compiled modules are kept for it, whatever the machine prefers.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo check test types tests test-slow chromium java page-types bench studies format docs docs-site notebooks screens clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 20

demo: $(VENV)/demo.stamp ## run a private campaign for real: a server, workers in other processes, truths
	$(BIN)/sottovoce demo

check: $(VENV)/test.stamp ## lint, layers and unit tests in a minute: for daily work
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/pytest -m "not slow" -n auto --dist worksteal $(UNIT)

test: $(VENV)/test.stamp chromium java $(TSC) ## lint, types, layers, tests: what CI runs
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	@$(MAKE) --no-print-directory page-types
	@$(MAKE) --no-print-directory -j2 types tests

# Types are checked by one process: the tests use the other processors meanwhile.
types: $(VENV)/test.stamp
	$(BIN)/mypy
tests: $(VENV)/test.stamp
	$(BIN)/pytest -m "not slow" -n auto --dist worksteal

test-slow: export SOTTOVOCE_EXAMPLES = thorough
test-slow: $(VENV)/test.stamp chromium java ## the larger runs as well
	$(BIN)/pytest -n auto --dist worksteal

bench: $(VENV)/bench.stamp java ## measure against crowd-kit and pandas; writes docs/reference/benchmarks.md
	$(BIN)/python benchmarks/run.py

studies: $(VENV)/test.stamp ## check every claim in full, ours beside the papers'; writes build/studies, docs/explanation/studies.md
	$(BIN)/sottovoce reproduce --full --force -o build/studies
	$(BIN)/python studies/tests/studies_page.py build/studies/verdicts.json

format: $(VENV)/test.stamp ## put the code into shape
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/test.stamp ## write the generated references and build the documentation site into site/
	$(BIN)/python tests/docs/cli_reference.py > docs/reference/cli.md
	$(BIN)/python tests/docs/api_reference.py > docs/reference/http-api.md
	$(BIN)/python tests/docs/promises.py
	$(BIN)/python -m tests.server.web.integrity
	$(BIN)/python tests/docs/fingerprints.py
	@$(MAKE) --no-print-directory docs-site

docs-site: $(VENV)/test.stamp ## build the documentation site only
	$(BIN)/python -m website.build site

notebooks: $(VENV)/test.stamp java ## execute the notebooks and store their outputs
	$(BIN)/python -m tests.docs.notebooks

screens: $(VENV)/test.stamp chromium ## take the pictures of the worker's page; writes docs/screens
	$(BIN)/python -m tests.browser.screens

clean: ## remove the environment and everything made
	rm -rf $(VENV) node_modules demo build dist site studies/dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# An environment per extra would be slower; each stamp adds its extra to the one environment.
$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Sottovoce needs Python 3.11 or newer: make PYTHON=/path/to/python3.11 …"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/demo.stamp: $(VENV)/bin/python pyproject.toml studies/pyproject.toml constraints.txt
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[server,plots]' -e studies
	@touch $@

$(VENV)/test.stamp: $(VENV)/bin/python pyproject.toml studies/pyproject.toml constraints.txt
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[test]' -e studies
	@touch $@

$(VENV)/bench.stamp: $(VENV)/test.stamp
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[bench]'
	@touch $@

# What a machine may lack, and may not be allowed to get: the tests then say what they left out.
chromium:
	@sh tests/browser/install.sh
java:
	@sh tests/engines/spark/install.sh

page-types:
	@if test -x $(TSC); then set -x; $(TSC) -p tsconfig.json && $(TSC) -p tsconfig.service-worker.json; \
	else echo "No TypeScript: the types of the pages' modules are not checked (npm install)"; fi

$(TSC): package.json
	@if command -v npm > /dev/null; then set -x; npm install --silent && touch $@; fi || true
