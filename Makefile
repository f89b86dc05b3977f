# Two commands are enough: `make run` and `make test`. Both make .venv and install what is pinned, once.
PYTHON ?= python3
PORT ?= 8501
BIN := .venv/bin

.PHONY: run test check suite bench soak screenshots recordings results figures reproduce format clean

run: .venv/.installed
	@echo "RAdam Lab opens at http://localhost:$(PORT)"
	$(BIN)/streamlit run app.py --server.port $(PORT)

# The types are checked beside the tests, which leave a core now and then while they wait for a browser or a server.
test: .venv/.installed-dev
	@$(MAKE) --no-print-directory --jobs=2 suite check

# A test of real processes that fails is tried again, and told (-rR): this machine has other guests.
suite: .venv/.installed-dev
	$(BIN)/python -m bench.driving.chromium
	$(BIN)/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder -rR

check: .venv/.installed-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/biome check --error-on-warnings
	DENO_DIR=.venv/deno DENO_NO_UPDATE_CHECK=1 $(BIN)/deno check -q dashboard/browser/scripts

bench: .venv/.installed-dev
	$(BIN)/python -m bench

# What a class, an attacker and a bad day do to a hosted copy, on loopback: 15 minutes, report in docs/RELIABILITY.md.
soak: .venv/.installed-dev
	$(BIN)/python -m bench soak

screenshots: .venv/.installed-dev
	$(BIN)/python -m tests.screenshots

# What a first visitor sees, and the paper's rows rest on. Resumable: what is done stays done.
recordings: .venv/.installed
	$(BIN)/python -m dashboard record

# The set for a talk about the paper: both themes, PDF and PNG, from the recordings.
figures: .venv/.installed
	$(BIN)/python -m dashboard figures --into figures

results: .venv/.installed
	$(BIN)/python -m dashboard paper --into docs/RESULTS.md

# The races that claims rest on, over five seeds, into docs/RESULTS.md: 30 minutes on two fast cores, 78 on slow ones.
reproduce: .venv/.installed
	$(BIN)/python -m bench.reproduce

format: .venv/.installed-dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/biome check --write

clean:
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache build *.egg-info

.venv/.created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "RAdam Lab needs Python 3.11 or newer: make PYTHON=...")'
	$(PYTHON) -m venv .venv
	@touch $@

.venv/.installed: requirements.txt .venv/.created
	$(BIN)/python -m pip install --disable-pip-version-check -q -r requirements.txt
	@touch $@

.venv/.installed-dev: requirements-dev.txt .venv/.installed
	$(BIN)/python -m pip install --disable-pip-version-check -q -r requirements-dev.txt
	@touch $@
