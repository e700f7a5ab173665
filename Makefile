# The verbs of a developer. Each one sets up what it needs by itself: Python 3.11 or newer and git are enough.
#
#   make demo               see the main job done in a new temporary repository
#   make check              what to run while working: ruff, mypy, the fast tests
#   make test               all that must hold before a change lands; continuous integration runs the same
#   make fuzz SECONDS=60    look for counterexamples to the laws for about that long, with new seeds each round
#   make torture            many writers and editors at once, in long: what they did, and whether anything is lost
#   make mutants SEED=1     change the code in 300 places, one at a time: which of the changes does no test notice?
#   make bench              the figures that docs and targets speak of
#   make format             put the code into its form
#   make coverage           which lines and branches the tests reach
#   make docs               build the site into site/, strictly
#   make gen                write anew what is generated from the rule registry and the commands
#   make clean              remove everything that the other verbs made

SHELL := /bin/sh
.DEFAULT_GOAL := check
.NOTPARALLEL:
.PHONY: bench check clean coverage demo docs fuzz format gen lint mutants test torture

BIN := .venv/bin
READY := .venv/ready
SECONDS := 60
SEED := 1
PYTHON :=
PYTEST := $(BIN)/pytest -n auto --dist worksteal

# Tests and hooks start `taskstate`, `pre-commit` and `git` by name.
export PATH := $(CURDIR)/.venv/bin:$(PATH)

# A stand-in for python3.12 that some version manager left behind does not start: hence the trial of each.
$(READY): pyproject.toml
	@for python in $(PYTHON) python3.13 python3.12 python3.11 python3 python; do \
	  if "$$python" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then found=$$python; break; fi; \
	done; \
	if [ -z "$$found" ]; then \
	  echo "make: no Python 3.11 or newer with its venv module was found; install one, or name it: make PYTHON=/path/to/python3" >&2; exit 1; \
	fi; \
	command -v git >/dev/null 2>&1 || { echo "make: git was not found; install it first" >&2; exit 1; }; \
	if ! $(BIN)/python -c 'import pip, sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then \
	  echo "make: new .venv with $$("$$found" --version)"; \
	  rm -rf .venv && "$$found" -m venv .venv || exit 1; \
	fi
	@echo "make: installing taskstate and what its tests need into .venv"
	@$(BIN)/python -m pip install --quiet --no-input --disable-pip-version-check --progress-bar off --editable '.[dev]'
	@touch $@

demo: $(READY)
	@$(BIN)/taskstate demo

lint: $(READY)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/python -m scripts.generate --check

check: lint
	HYPOTHESIS_PROFILE=quick $(PYTEST) -q -m "not slow" --ignore=tests/acceptance --ignore=tests/properties

# pytest comes last: its summary is what a reader of the log looks for.
test: lint docs
	HYPOTHESIS_PROFILE=ci $(PYTEST)

# A third of the time goes to atheris, which is guided by the lines that a text reaches, the rest to the laws. A round
# that is under way when the time is up skips the laws that it has not begun (tests/conftest.py).
fuzz: $(READY)
	@$(BIN)/python -c 'import atheris' 2>/dev/null || $(BIN)/python -m pip install --quiet --no-input \
	  --disable-pip-version-check --progress-bar off --editable '.[fuzz]' || echo "make: atheris cannot be installed here"
	@end=$$(( $$(date +%s) + $(SECONDS) )); \
	$(BIN)/python -m tests.fuzz.run $$(( $(SECONDS) / 3 + 1 )) || exit 1; \
	while left=$$(( end - $$(date +%s) )); [ "$$left" -gt 0 ]; do \
	  seed=$$($(BIN)/python -c 'import secrets; print(secrets.randbits(32))'); \
	  echo "make: fuzzing, $$left s left, seed $$seed"; \
	  HYPOTHESIS_PROFILE=fuzz TASKSTATE_FUZZ_SECONDS=$$left \
	    $(PYTEST) -q --hypothesis-seed=$$seed --randomly-seed=$$seed tests/properties || exit 1; \
	done

torture: $(READY)
	$(BIN)/python -m tests.torture

# Not part of continuous integration: it takes about half an hour.
mutants: $(READY)
	@$(BIN)/python -m pip install --quiet --no-input --disable-pip-version-check --editable '.[mutants]'
	$(BIN)/python scripts/mutants.py --seed $(SEED)

bench: $(READY)
	@$(BIN)/python -m pip install --quiet --no-input --disable-pip-version-check --editable '.[bench]'
	$(BIN)/python -m benchmarks

coverage: $(READY)
	$(BIN)/coverage erase
	HYPOTHESIS_PROFILE=dev $(BIN)/coverage run -m pytest -q -n auto
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

format: $(READY)
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

docs: $(READY)
	$(BIN)/zensical build --clean --strict

gen: $(READY)
	$(BIN)/python -m scripts.generate

clean:
	rm -rf .venv .cache .coverage .coverage.* .hypothesis .mypy_cache .pytest_cache .ruff_cache build dist htmlcov site
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
