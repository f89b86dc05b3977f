# Two commands are enough: `make run` and `make test`. Both make .venv and install what is pinned, once.
PYTHON ?= python3
PORT ?= 8501
BIN := .venv/bin

.PHONY: run test check bench screenshots reproduce format clean

run: .venv/.installed
	@echo "RAdam Lab opens at http://localhost:$(PORT)"
	$(BIN)/streamlit run app.py --server.port $(PORT)

test: check
	$(BIN)/python -m tests.chromium
	$(BIN)/python -m pytest

check: .venv/.installed-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

bench: .venv/.installed-dev
	$(BIN)/python -m bench

screenshots: .venv/.installed-dev
	$(BIN)/python -m tests.screenshots

# The paper's Figure 1 in miniature at three seeds, into docs/RESULTS.md: about three minutes on two cores.
reproduce: .venv/.installed
	$(BIN)/python -m bench.reproduce

format: .venv/.installed-dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache

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
