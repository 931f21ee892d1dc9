# Developer verbs. `make demo` and `make test` are all a newcomer needs: both set up what they use.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
FULL := $(VENV)/.full
DEMO := $(VENV)/.demo

.PHONY: help demo setup check test test-bare test-long bench docs example site lock sbom audit clean

help:
	@echo "make demo    build, verify, score and report a small benchmark (no torch, no network beyond packages)"
	@echo "make setup   install everything, system packages too"
	@echo "make check   lint, formatting, types"
	@echo "make test    the tests that a change is tried with, in minutes"
	@echo "make test-long  what takes longer: soak, load, faults, whole studies, and properties on all of their examples"
	@echo "make test-bare  the core's tests in a copy without the wings"
	@echo "make bench   all measured bars, full counts; writes bench/README.md"
	@echo "make docs    regenerate the tables and contact sheets in docs/"
	@echo "make example rebuild the worked example in examples/missed_rim"
	@echo "make site    the documentation as web pages in site/"
	@echo "make lock    renew requirements*.lock"
	@echo "make sbom    list what lock files install, with licences, in docs/sbom.cdx.json and docs/licences.md; after make lock"
	@echo "make audit   bandit over the source and zizmor over the workflow"

demo: $(DEMO)
	$(BIN)/inpaintbench demo --out demo

setup: $(FULL)

check: $(FULL)
	$(BIN)/ruff check src tests bench examples scripts
	$(BIN)/ruff format --check src tests bench examples scripts
	$(BIN)/mypy

# One thread a process: networks of tests are small, and threads that wait for each other took a quarter of their time.
test: $(FULL)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist worksteal -m "not long"

test-bare: $(FULL)
	scripts/bare_tests.sh

test-long: $(FULL)
	$(BIN)/python -m pytest -n auto --dist worksteal -m "long or hypothesis" --hypothesis-profile long

bench: $(FULL)
	$(BIN)/python bench/run.py

docs: $(FULL)
	$(BIN)/python scripts/tables.py
	$(BIN)/python scripts/pictures.py
	$(BIN)/python scripts/loop.py
	$(BIN)/python scripts/concepts.py

example: $(FULL)
	$(BIN)/python examples/missed_rim/rebuild.py

site: $(FULL)
	$(BIN)/python scripts/site_pages.py
	$(BIN)/mkdocs build --strict

lock: $(BIN)/python
	scripts/install.sh lock

sbom: $(FULL)
	$(BIN)/python scripts/sbom.py

audit: $(FULL)
	$(BIN)/python -m uv tool run bandit==1.9.4 -q -c pyproject.toml -r src scripts
	$(BIN)/python -m uv tool run zizmor==1.32.0 --offline .github

clean:
	rm -rf demo bench/out site build dist

$(FULL): requirements.lock pyproject.toml scripts/install.sh
	PYTHON=$(PYTHON) scripts/install.sh full
	@touch $(FULL) $(DEMO)

$(DEMO): requirements-demo.lock pyproject.toml scripts/install.sh
	PYTHON=$(PYTHON) scripts/install.sh demo
	@touch $(DEMO)

$(BIN)/python:
	PYTHON=$(PYTHON) scripts/install.sh venv
