# `make demo` and `make test` set up everything they need in .venv; Python >= 3.11 is all they ask for.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= auto

MINUTES ?= 10
SEED ?= 1

# the verified checker is built for the tests where Coq, OCaml and zarith are installed
PROOFS := $(if $(and $(shell command -v coqc),$(shell ocamlfind query zarith 2>/dev/null)),proofs)

# without bytecode on disk, each worker and each command that a test starts would compile hundreds of modules again
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test check format bench fuzz proofs clean

demo: $(VENV)/.ready
	$(BIN)/gough demo

test: $(VENV)/.ready-test check $(PROOFS)
	$(BIN)/pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder

check: $(VENV)/.ready-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.ready-test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.ready-test
	$(BIN)/python -m benchmarks

fuzz: $(VENV)/.ready-test
	$(BIN)/python -m tests.fuzz --minutes $(MINUTES) --seed $(SEED)

proofs: | $(VENV)/bin/python
	$(MAKE) -C proofs
	install proofs/build/gough-proof-check $(BIN)/gough-proof-check

clean:
	$(MAKE) -C proofs clean
	rm -rf $(VENV) build dist .pytest_cache .ruff_cache .mypy_cache

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "gough needs Python 3.11 or newer: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.ready: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

$(VENV)/.ready-test: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test]'
	touch $@ $(VENV)/.ready
