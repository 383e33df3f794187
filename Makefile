# `make demo` and `make test` set up everything they need in .venv; Python >= 3.11 is all they ask for.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= auto

MINUTES ?= 10
SEED ?= 1

# the verified checker is built for the tests where Coq, OCaml and zarith are installed
PROOFS := $(if $(and $(shell command -v coqc),$(shell ocamlfind query zarith 2>/dev/null)),proofs)

# each worker has a core of its own: threads of BLAS on top of that wait for one another more than they compute
test test-lowest: export OPENBLAS_NUM_THREADS ?= 1

# without bytecode on disk, each worker and each command that a test starts would compile hundreds of modules again
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-lowest check format docs bench bench-all fuzz proofs sbom dist clean

demo: $(VENV)/.ready
	$(BIN)/gough demo

# mypy and Coq use one core each: both at once, in half the time
test: $(VENV)/.ready-test
	$(MAKE) --jobs 2 check $(PROOFS)
	$(BIN)/pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder

# all tests with the oldest versions that pyproject.toml allows of what gough imports itself; such versions may use what
# newer ones of their own dependencies deprecate
test-lowest: $(PROOFS)
	$(PYTHON) -m venv --clear $(VENV)-lowest
	$(PYTHON) scripts/lowest.py > $(VENV)-lowest/constraints.txt
	$(VENV)-lowest/bin/python -m pip install --quiet --disable-pip-version-check --constraint $(VENV)-lowest/constraints.txt --editable '.[test]'
	$(if $(PROOFS),install $(BIN)/gough-proof-check $(VENV)-lowest/bin/gough-proof-check)
	$(VENV)-lowest/bin/pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder -W default::DeprecationWarning $(TESTS)

check: $(VENV)/.ready-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.ready-test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# the site, offline: docs/_build/html/index.html; warnings and broken links are errors
docs: $(VENV)/.ready-docs
	$(BIN)/python scripts/gallery.py
	$(BIN)/python -m sphinx --builder html --jobs auto --fail-on-warning --keep-going --quiet docs docs/_build/html
	$(BIN)/python scripts/check_links.py docs/_build/html

# times beside goals; then the open benchmark: gough and its rivals, each in its own environment in .venv-rivals, on the
# same data
bench: $(VENV)/.ready-bench
	$(BIN)/python -m benchmarks speed
	$(BIN)/python -m benchmarks peers

# the open benchmark and all others of the folder benchmarks, which takes hours
bench-all: $(VENV)/.ready-bench
	$(BIN)/python -m benchmarks

fuzz: $(VENV)/.ready-test
	$(BIN)/python -m tests.fuzz --minutes $(MINUTES) --seed $(SEED)

proofs: | $(VENV)/bin/python
	$(MAKE) -C proofs
	install proofs/build/gough-proof-check $(BIN)/gough-proof-check

# licences and versions of what is installed, as CycloneDX
sbom: $(VENV)/.ready-test
	$(BIN)/python scripts/licences.py --sbom build/sbom.json

# wheel and source archive, each installed and tried in an empty environment
dist: $(VENV)/.ready-docs
	$(BIN)/python scripts/distributions.py dist

clean:
	$(MAKE) -C proofs clean
	rm -rf $(VENV) $(VENV)-lowest $(VENV)-rivals docs/_build docs/_drawn docs/_gallery docs/reference/api docs/reference/commands build dist .pytest_cache .ruff_cache .mypy_cache

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "gough needs Python 3.11 or newer: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)

# a demo uses a third of the modules that are installed: Python compiles these at their first use, instead of pip all
$(VENV)/.ready: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --editable .
	touch $@

$(VENV)/.ready-test: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test]'
	touch $@ $(VENV)/.ready

$(VENV)/.ready-bench: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bench,test]'
	touch $@ $(VENV)/.ready-test $(VENV)/.ready

$(VENV)/.ready-docs: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check build --editable '.[docs,multibody,physical,vision]'
	touch $@ $(VENV)/.ready
