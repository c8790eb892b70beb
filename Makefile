# Two commands do everything, set-up included:  make atlas   (the main job)   and   make test
# Nothing outside this folder is touched: all packages go into .venv, pinned by requirements.lock.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Two steps of set-up: the atlas needs the core and its own extra, everything else needs all.
ATLAS := $(VENV)/.atlas
STAMP := $(VENV)/.installed
EXTRAS := train,atlas,export,ray,records,dev
# Bytecode is kept, whatever the surroundings say: tests start hundreds of processes, each of which would compile anew.
export PYTHONDONTWRITEBYTECODE :=
# Nothing but this package is built from source: what a machine built once must not decide what works on it.
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --only-binary :all: -c requirements.lock

.PHONY: setup atlas test lint types imports pytest bench docs screenshots mutants bounds coverage lock clean help

help:
	@echo "make atlas   build the atlas (atlas/index.html, atlas/atlas.json) and print its table"
	@echo "make test    ruff, basedpyright, import-linter, pytest"
	@echo "make setup   only make .venv from requirements.lock"
	@echo "make bench   rerun the benchmarks of docs/benchmarks.md"
	@echo "make docs    build the documentation as a site (site/index.html; its search needs a server, as README says)"
	@echo "make screenshots   pictures of the site and the explorer (docs/screenshots)"
	@echo "make mutants | bounds   campaigns against the checker and the bounds (docs/reliability.md)"
	@echo "make coverage   whether its tests run every line of the kernel and of the rooms that proofs rest on"
	@echo "make lock    resolve the newest versions and rewrite requirements.lock"

setup: $(STAMP)

$(ATLAS): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "make setup: $(PYTHON) is Python %d.%d, Separatrix needs 3.11 or newer; try  make PYTHON=python3.11 ..." % sys.version_info[:2])'
	@echo "setting up $(VENV) for the atlas from requirements.lock (about a minute the first time)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(PIP_INSTALL) hatchling editables
	@$(PIP_INSTALL) --no-build-isolation -e '.[atlas]'
	@touch $@

# Of what transformer-lens requires, transformers-stream-generator exists only as source and is never imported, and
# wandb is not needed: the package is taken alone, and the extra dev names what it imports.
$(STAMP): $(ATLAS)
	@echo "setting up $(VENV) for everything else (a few minutes the first time)"
	@$(PIP_INSTALL) --no-build-isolation -e '.[$(EXTRAS)]'
	@$(PIP_INSTALL) --no-deps transformer-lens
	@touch $@

atlas: $(ATLAS)
	@$(BIN)/separatrix atlas --out atlas

# Types take a minute of one core and pytest waits now and then for processes and browsers, so they run side by side;
# types give way to the tests, some of which watch the clock, and their answer comes last.
TYPES := $(VENV)/.types
PYTEST := $(BIN)/python -m pytest -n 2 --dist worksteal
test: lint imports
	@$(BIN)/python -m tools.get_chromium
	@echo "$(BIN)/basedpyright   (next to pytest; its answer comes last)"
	@echo "$(PYTEST)"
	@nice $(BIN)/basedpyright >$(TYPES) 2>&1 & types=$$!; trap 'kill $$types 2>/dev/null' INT TERM; \
	$(PYTEST); tested=$$?; \
	wait $$types; typed=$$?; echo "$(BIN)/basedpyright"; cat $(TYPES); \
	test $$tested -eq 0 && test $$typed -eq 0

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/basedpyright

imports: $(STAMP)
	$(BIN)/lint-imports --no-logo

pytest: $(STAMP)
	@$(BIN)/python -m tools.get_chromium
	$(PYTEST)

bench: $(STAMP)
	$(BIN)/python -m benchmarks --write docs/benchmarks.md

docs: $(STAMP)
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "open site/index.html"

screenshots: $(STAMP)
	@$(BIN)/python -m tools.get_chromium
	$(BIN)/python -m tools.screenshots --out docs/screenshots

coverage: $(STAMP)
	@for room in separatrix/arithmetic separatrix/certificates separatrix/communication separatrix_kernel; do \
	  tests=tests/$$(basename $$room | sed s/separatrix_//); echo "$$tests"; \
	  $(BIN)/python -m coverage run --branch --source=src/$$room -m pytest -q -p no:xdist $$tests && \
	  $(BIN)/python -m coverage report --skip-covered --show-missing --fail-under=100 || exit 1; \
	done

mutants: $(STAMP)
	$(BIN)/python -m tools.mutants --write docs/reliability.md

bounds: $(STAMP)
	$(BIN)/python -m tools.bound_campaign --write docs/reliability.md

lock:
	$(PYTHON) tools/write_lock.py

clean:
	rm -rf $(VENV) atlas site .pytest_cache .ruff_cache .hypothesis
