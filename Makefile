# Every target does its own set-up; doing it again is quick.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: setup test lint types docs bench speed clean

setup: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[all,dev,docs]'
	touch $(STAMP)

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-logo

types: setup
	$(BIN)/mypy

test: lint types
	$(BIN)/python -m pytest -n 2 --dist loadgroup

# The documentation site in site/: open site/index.html, from disk, without a network.
docs: setup
	$(BIN)/codespell README.md CHANGELOG.md CONTRIBUTING.md docs src/nalm website
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
	$(BIN)/python website/check.py site

# The field's standard benchmark: 30 pairs of unit and operation, nine ranges, 25 seeds, in nalm-runs.sqlite, and
# the page that shows it.
BENCHED := nac,nac-mul,nalu,gnalu,inalu,nau,nmu,snmu,npu,realnpu,realnpu@modified,nru,nmru

bench: setup
	$(BIN)/nalm bench single-module --units $(BENCHED)
	$(BIN)/nalm report -o report.html

speed: setup
	$(BIN)/python benchmarks/engine.py
	$(BIN)/python benchmarks/units.py
	$(BIN)/python benchmarks/bench.py

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis site
