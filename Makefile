# `make run` and `make test` need Python 3.11 or newer, a C++ compiler and make; nothing else set up before.

PYTHON ?= python3
BIN := .venv/bin

.PHONY: run test check check-all clean

run: .venv/made
	$(BIN)/onechange run --data storyworld $(if $(wildcard runs/tokenizers-and-positions-quick-storyworld/start.json),--resume)

test: .venv/made-dev
	$(BIN)/python -m pytest -n auto -m "not long"

check: .venv/made-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(MAKE) test

check-all: check
	$(BIN)/python -m pytest -n auto -m long

# torch first: with it in place nothing pulls in another build of it.
.venv/made: constraints.txt pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "onechange needs Python 3.11 or newer")'
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt torch
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable .
	touch $@

.venv/made-dev: .venv/made
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	touch $@

clean:
	rm -rf .venv .pytest_cache .ruff_cache .hypothesis
