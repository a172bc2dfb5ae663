# What people run. Everything lives in .venv and, for `make run`, in BOBA_DATA_DIR (default: var).
# Settings such as BOBA_PORT come from the environment; webapp/settings.py lists them.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
ARGS ?=
# Checks and tests keep out of the data folder of `make run`, and off anybody's servers.
APART := env -u DATABASE_URL -u REDIS_URL BOBA_DATA_DIR=$(CURDIR)/$(VENV)/check-data

export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: help run test check lint bench golden shots
.DEFAULT_GOAL := help

help:
	@echo "make run     start Boba on this machine; prints the address that signs you in"
	@echo "make test    the whole suite; ARGS='tests/unit -k name' for a part"
	@echo "make check   format, lint, types, import contracts, migrations, then the whole suite"
	@echo "make bench   the benchmarks, with the targets beside them"
	@echo "make golden  write the golden timelines again; read the difference before you commit it"
	@echo "make shots   take the pictures of the documentation from the running product"

run: $(VENV)/run.stamp
	@$(BIN)/python manage.py up

test: $(VENV)/dev.stamp
	$(APART) $(BIN)/python -m pytest $(ARGS)

lint: $(VENV)/dev.stamp
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(APART) $(BIN)/mypy
	$(APART) $(BIN)/lint-imports
	$(APART) $(BIN)/python manage.py check --fail-level WARNING
	$(APART) $(BIN)/python manage.py makemigrations --check --dry-run

check: lint
	$(MAKE) test

bench: $(VENV)/run.stamp
	$(BIN)/python -m benchmarks $(ARGS)

golden: $(VENV)/dev.stamp
	$(APART) $(BIN)/python -m tests.golden $(ARGS)

shots: $(VENV)/dev.stamp
	$(APART) $(BIN)/python -m tests.browser.shots $(ARGS)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	    || { echo "Boba needs Python 3.11 or newer; name it with: make PYTHON=/path/to/python3.11"; exit 1; }
	@$(PYTHON) -m venv $(VENV) \
	    || { rm -rf $(VENV); echo "Python's venv module is missing; on Debian: apt-get install python3.11-venv"; exit 1; }

# Dependencies are installed again only when the list of them has changed.
$(VENV)/run.stamp: requirements.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet -r requirements.txt
	@touch $@

$(VENV)/dev.stamp: requirements-dev.txt requirements.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet -r requirements-dev.txt
	@touch $@
