# Everything a person or a machine does to this repository. Needs Python >= 3.11, git and make.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# A benchmark's prefix (make bench ONLY=slice.hook), or a test path (make test ONLY=tests/unit/text).
ONLY ?=
# One worker: hosts and start-up times are tested, and neighbours on the same cores disturb those.
WORKERS ?= 0
# One round over everything carries the coverage gate; a chosen path is for quick looks.
PYTEST_ARGS = $(if $(ONLY),$(ONLY),-n $(WORKERS) --cov --cov-report=term)
CODE := src tests benchmarks tools

# Processes that we start must find byte code beside the modules, or start-up figures mean nothing.
unexport PYTHONDONTWRITEBYTECODE
unexport PYTHONPATH
unexport PYTHONHOME

.DEFAULT_GOAL := help
.PHONY: help venv node test check lint docs-check fix docs bench hosts demo lock clean

help: ## show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1	\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 20

venv: $(VENV)/.installed ## create the environment from the lock file

$(VENV)/.installed: requirements/dev.txt pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing what requirements/dev.txt locks into $(VENV)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

node: ## install the real hosts that tests/hosts runs; says why and goes on where npm does not answer
	@sh tools/node.sh

test: venv node ## run every test, with the coverage gate (ONLY=path for a part, without it)
	@$(BIN)/python -m pytest $(PYTEST_ARGS)

check: lint docs-check test ## exactly what CI runs

lint: venv ## style, types, directions of import, changelog fragments
	@$(BIN)/ruff check $(CODE)
	@$(BIN)/ruff format --check $(CODE)
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/python tools/changelog.py check

docs-check: venv ## the reference pages say what the code says
	@$(BIN)/python tools/docs.py check

fix: venv ## let ruff repair and format what it can
	@$(BIN)/ruff check --fix $(CODE)
	@$(BIN)/ruff format $(CODE)

docs: venv ## write the generated reference pages anew
	@$(BIN)/python tools/docs.py write

bench: venv ## measure, print the table, write build/bench.json (ONLY=prefix for a part)
	@$(BIN)/python benchmarks/run.py $(ONLY)

hosts: venv node ## run the real hosts, offline, against a scripted model
	@$(BIN)/python -m pytest tests/hosts

demo: venv ## play one investigation through the real faces, in a temporary home
	@$(BIN)/python tools/demo.py

lock: ## resolve requirements/dev.txt anew from pyproject.toml
	@test -x build/uv/bin/uv || { $(PYTHON) -m venv build/uv && build/uv/bin/python -m pip install --quiet uv; }
	@build/uv/bin/uv pip compile pyproject.toml --group dev --generate-hashes --universal \
	  --python-version 3.11 --no-emit-find-links --no-emit-index-url --quiet -o requirements/dev.txt

clean: ## remove what was built here, the environment included
	@rm -rf build dist $(VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
