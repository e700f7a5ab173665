# What a developer runs. Each target sets up what it needs by itself; only Python 3.11 or newer and git must be installed.
#
#   make demo               show the main workflow in a new temporary repository
#   make check              run before each commit: ruff, mypy, the quick tests
#   make test               everything that must pass before a change lands; CI runs the same
#   make fuzz SECONDS=60    look for counterexamples to the properties for about that long, with new seeds each round
#   make torture            many writers and editors at once, then git and editors in any order, then commands
#                           killed at every change of the disk; checks that nothing was lost; then every cure that
#                           a test meets is run as printed, and those that none meets are listed
#   make clients            real clients of agents in pinned versions, each with a scripted model in a network of its own
#   make clients RECORD=1   the same, and what they gave to the hooks is recorded anew for the tests that always run
#   make import-tools       real tools for tasks in pinned versions make a folder each, and it comes in whole
#   make fleet              many repositories by the workers of a real Dask scheduler, and from a real object store
#   make mutants SEED=1     mutation testing: change the code in 300 places, one at a time, and show what no test notices
#   make page-matrix        look at each view of the page at four widths, light and dark, with axe
#   make pictures           take the pictures of the page for the documentation anew
#   make audit              look the installed dependencies up in a public database of known holes (needs the network)
#   make install-check      install in each way, with pip, uv and pipx, and do what is said where an extra is missing
#   make pythons            run the quick tests on every Python from 3.11 on that this machine has
#   make release VERSION=1.2.3  check and build a release, and write version and changelog; commits and uploads nothing
#   make bench              measure the figures that the documentation and the targets quote, in some ten minutes
#   make bench ALL=1        the whole of it, with thousands of files for slow peers: hours
#   make format             format the code
#   make coverage           show which lines and branches the tests reach
#   make docs               build the site into site/, in strict mode
#   make gen                regenerate the files that come from the rule registry and the commands
#   make clean              remove everything that the other targets created

SHELL := /bin/sh
.DEFAULT_GOAL := check
.NOTPARALLEL:
.PHONY: audit bench check clean clients coverage demo docs fleet fuzz format gen import-tools install-check lint mutants \
  page-matrix pictures pythons release test torture

BIN := .venv/bin
INSTALLED := .venv/installed
READY := .venv/ready
INSTALL := $(BIN)/python -m pip install --quiet --no-input --disable-pip-version-check --progress-bar off
SECONDS := 60
SEED := 1
ALL :=
RECORD :=
PYTHON :=
VERSION :=
WAY :=
PYTEST := $(BIN)/pytest -n auto --dist worksteal

# Tests and hooks start `taskstate`, `pre-commit` and `git` by name.
export PATH := $(CURDIR)/.venv/bin:$(PATH)
# Where it is set, each of the thousands of processes that the tests start compiles the package anew: three times as long.
unexport PYTHONDONTWRITEBYTECODE

# Chromium is taken as the machine has it; root on Debian gets its package. Elsewhere that is for a person to decide.
CHROMIUM := for name in $${TASKSTATE_CHROMIUM:-chromium} chromium-browser google-chrome; do \
    command -v "$$name" >/dev/null 2>&1 && exit 0; \
  done; \
  [ "$$(id -u)" = 0 ] && [ -e /etc/debian_version ] && export DEBIAN_FRONTEND=noninteractive && \
  { timeout 60 apt-get install -qq --yes --no-install-recommends chromium >/dev/null 2>&1 || \
    { timeout 30 apt-get update -qq >/dev/null 2>&1 && \
      timeout 60 apt-get install -qq --yes --no-install-recommends chromium >/dev/null 2>&1; }; }

# Version managers leave shims behind that fail when started (a `python3.12` of a removed version): so try each one.
$(INSTALLED): pyproject.toml
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
	@echo "make: installing taskstate into .venv"
	@$(INSTALL) --editable '.[pre-commit]'
	@touch $@

$(READY): $(INSTALLED)
	@echo "make: installing what its tests need into .venv"
	@$(INSTALL) --editable '.[dev]'
	@$(INSTALL) --editable '.[neovim]' \
	  || echo "make: Neovim cannot be installed here; the test that drives it takes the one on the path, or is skipped"
	@$(CHROMIUM) || echo "make: Chromium is not here, and cannot be installed without asking; what needs it is skipped"
	@touch $@

demo: $(INSTALLED)
	@$(BIN)/taskstate demo

lint: $(READY)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/python -m scripts.generate --check & pages=$$!; $(BIN)/mypy -n 2; types=$$?; wait $$pages && exit $$types

check: lint
	HYPOTHESIS_PROFILE=quick $(PYTEST) -q -m "not slow" $$($(BIN)/python -m scripts.quick)

# pytest comes last: its summary is what a reader of the log looks for.
test: lint docs
	HYPOTHESIS_PROFILE=ci $(PYTEST)

# A third of the time goes to atheris, which is guided by coverage, the rest to the property tests. A round that is
# running when the time is up skips the properties that it has not started (tests/conftest.py).
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
	for round in 1 2 3; do $(BIN)/python -m tests.kept || exit 1; done
	$(BIN)/python -m tests.kept --calm
	$(BIN)/python -m tests.clones
	KILL_EVERY=1 $(PYTEST) -q $$(grep -rl KILL_EVERY tests --include="test_*.py")
	rm -f .cache/cures-met
	CURES=all $(PYTEST) -q --ignore=tests/turn/test_crashes.py tests/turn tests/cli tests/operations tests/acceptance
	$(BIN)/python -m tests.support.cures

# Not part of continuous integration: the clients are installed from the npm registry into .cache/clients, a gigabyte.
# Where namespaces, node or a package cannot be had, the scenarios are skipped and say so.
clients: $(READY)
	CLIENTS=1 $(if $(RECORD),RECORD=1) $(BIN)/pytest -n 2 -rs tests/clients$(if $(RECORD),/test_recording.py)

# Not part of continuous integration: the tools are installed from the npm registry, into a folder that is thrown away.
# Where node or a package cannot be had, its test is skipped and says so.
import-tools: $(READY)
	IMPORT_TOOLS=1 $(BIN)/pytest -rs tests/importing/test_real_*.py

# Not part of continuous integration: a scheduler with its workers is started a dozen times.
fleet: $(READY)
	@$(INSTALL) --editable '.[fleet-check]'
	FLEET=1 $(BIN)/pytest -rs tests/fleet/test_scheduler.py tests/fleet/test_stores.py \
	  tests/fleet/test_strangers.py

# Not part of continuous integration: it takes minutes, and two widths say nearly as much.
page-matrix: $(READY)
	PAGE_MATRIX=1 $(PYTEST) -rs tests/page

pictures: $(READY)
	$(BIN)/python -m scripts.pictures

# Not part of continuous integration: it takes about half an hour.
mutants: $(READY)
	@$(BIN)/python -m pip install --quiet --no-input --disable-pip-version-check --editable '.[mutants]'
	$(BIN)/python scripts/mutants.py --seed $(SEED)

# Not part of continuous integration: a hole that becomes known tomorrow is no fault of today's change.
audit: $(READY)
	@$(BIN)/python -m pip install --quiet --no-input --disable-pip-version-check --editable '.[audit]'
	@$(BIN)/python -m scripts.audit

# Not part of continuous integration: environments with all extras, a dozen times, from a package index.
install-check: $(READY)
	@$(BIN)/python -m scripts.release.installs $(WAY)
	@INSTALL_CHECK=1 $(BIN)/pytest -q tests/test_release.py tests/acceptance/test_pre_commit.py

release: $(READY)
	@$(BIN)/python -m scripts.release.prepare $(VERSION)

# Those of the path, of pyenv and of uv. A Python in which the tests' own tools cannot be installed is an error as well.
pythons: $(READY)
	@for version in 3.11 3.12 3.13 3.14; do \
	  found=; for python in python$$version "$$HOME"/.pyenv/versions/$$version.*/bin/python "$$HOME"/.local/share/uv/python/cpython-$$version.*/bin/python; do \
	    "$$python" -c 'import ensurepip, venv' >/dev/null 2>&1 && found=$$python && break; done; \
	  [ -n "$$found" ] || { echo "make: Python $$version is not here, and was not tried"; continue; }; \
	  own=.cache/python-$$version; echo "make: $$("$$found" --version) in $$own"; \
	  { [ -e $$own ] || "$$found" -m venv $$own; } && $$own/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]' && \
	    PATH="$(CURDIR)/$$own/bin:$$PATH" HYPOTHESIS_PROFILE=quick $$own/bin/pytest -q -n auto $(if $(ALL),,-m "not slow" $$($(BIN)/python -m scripts.quick)) || exit 1; \
	done

# The tools that it compares with are installed by itself, each into an environment of its own in .cache/bench.
bench: $(READY)
	$(BIN)/python -m benchmarks $(if $(ALL),--all) --write

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
