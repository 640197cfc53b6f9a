# The manual: `make` lists what there is.
.DEFAULT_GOAL := help
SHELL := /bin/bash

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# Real datasets for the tests that need some; without them those tests say that they were skipped.
DATA ?= $(wildcard ../shared/data)
export SOTTOVOCE_DATA ?= $(abspath $(DATA))

.PHONY: help demo test test-slow bench studies format docs clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 20

demo: $(VENV)/demo.stamp ## run a private campaign for real: a server, workers in other processes, truths
	$(BIN)/sottovoce demo

test: $(VENV)/test.stamp ## lint, types, layers, tests: what CI runs
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest -m "not slow" -n auto --dist worksteal

test-slow: $(VENV)/test.stamp ## the larger runs as well
	$(BIN)/pytest -n auto --dist worksteal

bench: $(VENV)/bench.stamp ## measure against crowd-kit and pandas; writes docs/benchmarks.md
	$(BIN)/python benchmarks/run.py

studies: $(VENV)/test.stamp ## check every claim in full, ours beside the papers'; writes build/studies
	$(BIN)/sottovoce reproduce --full --force -o build/studies

format: $(VENV)/test.stamp ## put the code into shape
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/test.stamp ## write the references of the commands and the interface, and the tables of guarantees, anew
	$(BIN)/python tests/docs/cli_reference.py > docs/cli.md
	$(BIN)/python tests/docs/api_reference.py > docs/api.md
	$(BIN)/python tests/docs/promises.py

clean: ## remove the environment and everything made
	rm -rf $(VENV) demo build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# An environment per extra would be slower; each stamp adds its extra to the one environment.
$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Sottovoce needs Python 3.11 or newer: make PYTHON=/path/to/python3.11 …"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/demo.stamp: $(VENV)/bin/python pyproject.toml constraints.txt
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[server,plots]'
	@touch $@

$(VENV)/test.stamp: $(VENV)/bin/python pyproject.toml constraints.txt
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[test]'
	@touch $@

$(VENV)/bench.stamp: $(VENV)/test.stamp
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[bench]'
	@touch $@
