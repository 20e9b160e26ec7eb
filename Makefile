PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test lint bench study experiments experiments-quick examples docs clean

demo: .venv/core
	$(BIN)/python -m interplay demo

# What is tested with the shapes and types of all arguments checked, which makes a fit many times slower.
TYPED := tests/data tests/model tests/effects

# Two processes, each with a linear algebra of one thread.
test: export OPENBLAS_NUM_THREADS = 1
test: .venv/dev .venv/browser
	$(BIN)/python -m pytest -n 2 $(TYPED) --jaxtyping-packages=interplay,beartype.beartype
	$(BIN)/python -m pytest -n 2 tests $(TYPED:%=--ignore=%)

lint: .venv/dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: .venv/dev
	$(BIN)/python -m benchmarks
	$(BIN)/python -m benchmarks --only sampling

study: .venv/dev
	$(BIN)/python -m experiments study

experiments: .venv/dev
	$(BIN)/python -m experiments --download

experiments-quick: .venv/dev
	$(BIN)/python -m experiments --quick

examples: .venv/dev
	$(BIN)/python -m examples

docs: .venv/dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

clean:
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis

.venv/core: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

.venv/dev: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --editable ".[dev]"
	# adelie asks for an old NumPy that it does not need; without it, its tests and benchmarks are left out.
	-$(BIN)/python -m pip install --quiet --no-deps adelie==1.1.52
	touch $@ .venv/core

# Debian's Chromium, for the tests of the page, where we may install it; without it they are skipped, but for CI.
.venv/browser: .venv/dev
	@if command -v chromedriver > /dev/null; then touch $@; \
	elif command -v apt-get > /dev/null && test "$$(id -u)" = 0; then \
	  { apt-get update -qq && apt-get install -qq -y --no-install-recommends chromium chromium-driver; } \
	    > /dev/null 2>&1 && touch $@ || echo "Chromium could not be installed." >&2; \
	fi
