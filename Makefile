# Two commands matter to a newcomer: `make demo` and `make test`. Each works on a machine that has only
# Python 3.11+ and make: it creates .venv, bootstraps uv inside it, installs the pinned packages and runs.
PYTHON ?= python3
BIN := .venv/bin
UV := $(BIN)/uv pip
LOCAL := --no-deps --no-build-isolation -q -e .

# The tests start hundreds of processes: what Python has compiled once is kept, whatever the shell says.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test lint types check docs bench bench-quick pins clean

demo: .venv/demo-ready
	@$(BIN)/tacit demo

# Types beside tests, which wait now and then.
test: .venv/test-ready lint
	@$(MAKE) --no-print-directory -j 2 types check

check: .venv/test-ready
	$(BIN)/python -m pytest -n auto tests

lint: .venv/test-ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/test-ready
	$(BIN)/mypy

docs: .venv/test-ready
	$(BIN)/python docs/hooks/pages.py

# Hours, or minutes; other libraries are installed in environments of their own. GRAPH and PROFILE name the graph of
# the join studies and its published profile, GRAPHS the two Deezer graphs.
bench: .venv/test-ready
	$(BIN)/python -m benchmarks $(if $(GRAPH),--graph $(GRAPH)) $(if $(PROFILE),--profile $(PROFILE)) $(if $(GRAPHS),--graphs $(GRAPHS))

bench-quick: .venv/test-ready
	$(BIN)/python -m benchmarks --quick

.venv/uv-ready: requirements/uv.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Tacit needs Python 3.11 or newer; name one with: make PYTHON=/path/to/python3.11"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes -r requirements/uv.txt
	@touch $@

# `install` adds what the demo needs and never removes what a developer has.
.venv/demo-ready: .venv/uv-ready requirements/demo.txt requirements/build.txt pyproject.toml
	@$(UV) install -q --require-hashes -r requirements/demo.txt -r requirements/build.txt
	@$(UV) install $(LOCAL)
	@touch $@

# `sync` makes the environment exactly the pinned one; it drops uv and the project, which come back at once.
.venv/test-ready: .venv/uv-ready requirements/dev.txt pyproject.toml
	@$(UV) sync -q --require-hashes requirements/dev.txt requirements/uv.txt
	@$(UV) install $(LOCAL)
	@touch $@ .venv/demo-ready

COMPILE := $(UV) compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
  --no-emit-find-links --no-header
pins: .venv/uv-ready
	echo "uv" | $(COMPILE) - -o requirements/uv.txt
	printf "hatchling\neditables\n" | $(COMPILE) - -o requirements/build.txt
	$(COMPILE) pyproject.toml --extra plot -o requirements/demo.txt
	$(COMPILE) pyproject.toml --extra dev -o requirements/dev.txt
	$(COMPILE) pyproject.toml --extra serve --extra mcp --extra postgres --extra telemetry -c requirements/dev.txt -o requirements/serve.txt

clean:
	rm -rf .venv build dist site .mypy_cache .ruff_cache .pytest_cache .hypothesis
