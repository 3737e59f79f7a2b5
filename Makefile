# Two commands do all the set-up: `make demo` and `make test`, on any machine with Python 3.11.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: setup demo test lint types check docs bench nightly clean

setup: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[dev]'
	touch $(STAMP)

demo: setup
	$(BIN)/mnemos demo

test: setup lint types
	$(BIN)/python -m pytest --cov --cov-report=term:skip-covered

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: setup
	$(BIN)/mypy

docs: setup
	$(BIN)/python -m mnemos.operations.reference docs/reference

bench: setup
	$(BIN)/python -m benchmarks append search startup

nightly: setup
	$(BIN)/python -m pytest --nightly

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .coverage .coverage.*
