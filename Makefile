# Two commands do everything: `make demo` and `make test`. Each makes .venv and installs what it
# needs, through constraints.txt, the first time; a second call installs nothing.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt
INPUTS := pyproject.toml constraints.txt
JOBS ?= 2
SEED ?= 1
MINUTES ?= 10
COUNT ?= 50

.PHONY: demo test test-browser fuzz kills lint format docs check-docs wheel-check clean

demo: $(VENV)/.demo-ready
	$(BIN)/concatmt demo

test: $(VENV)/.dev-ready
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(JOBS) --dist worksteal

# The page in a real browser; Debian's package `chromium` has one.
BROWSER ?= $(shell command -v chromium || command -v chromium-browser || command -v google-chrome)
test-browser: $(VENV)/.browser-ready
	@test -n "$(BROWSER)" || { echo "no browser: install Debian's chromium, or give BROWSER="; exit 2; }
	CONCATMT_BROWSER=$(BROWSER) $(BIN)/python -m pytest tests/browser

fuzz: $(VENV)/.dev-ready
	$(BIN)/python -m tests.fuzz --seed $(SEED) --minutes $(MINUTES) --jobs $(JOBS)

kills: $(VENV)/.dev-ready
	$(BIN)/python -m tests.fuzz.kills --seed $(SEED) --count $(COUNT)

# All tables of speed, beside other engines in a venv of their own; quiet machines only. SHORT=1: a
# smoke test. OPUS= (a directory of OPUS-MT), TEXT=, SETS= and MODEL= add what needs them.
BENCH_VENV ?= .bench-venv
BENCH ?= bench
ROUNDS ?= 5
bench: $(VENV)/.dev-ready $(BENCH_VENV)/.ready
	$(BIN)/python benchmarks/bench.py --peer $(BENCH_VENV)/bin/python --output $(BENCH) \
	    --rounds $(ROUNDS) $(if $(SHORT),--short) $(if $(OPUS),--opus $(OPUS)) \
	    $(if $(TEXT),--text $(TEXT)) $(if $(SETS),--sets $(SETS)) $(if $(MODEL),--model $(MODEL)) \
	    $(if $(ONLY),--only $(ONLY))

# Marian has wheels for some processors and versions of Python only; without it the others are run.
$(BENCH_VENV)/.ready: benchmarks/peers.txt constraints.txt
	$(PYTHON) -m venv $(BENCH_VENV)
	$(BENCH_VENV)/bin/pip install --quiet --disable-pip-version-check --constraint constraints.txt \
	    --requirement benchmarks/peers.txt
	$(BENCH_VENV)/bin/pip install --quiet --disable-pip-version-check --constraint constraints.txt \
	    pymarian==1.12.42 || echo "no wheel of pymarian for this machine: benchmarks without Marian"
	touch $@

lint: $(VENV)/.dev-ready
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: $(VENV)/.dev-ready
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(VENV)/.docs-ready
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build

# Options of every command in the pages, and the blocks that can be run here on small stand-ins.
check-docs: $(VENV)/.dev-ready
	OMP_NUM_THREADS=1 $(BIN)/python -m scripts.check_docs

# sdist and wheel, and what a stranger does with the wheel: demo, a film, a server.
wheel-check: $(VENV)/.dev-ready
	$(BIN)/python scripts/check_wheel.py

# The build environment that pip makes for the editable install obeys the same pins.
$(VENV)/.demo-ready: $(INPUTS) | $(BIN)/python
	PIP_CONSTRAINT=constraints.txt $(PIP) --editable '.[plots]'
	touch $@

$(VENV)/.dev-ready: $(INPUTS) | $(BIN)/python
	PIP_CONSTRAINT=constraints.txt $(PIP) --editable '.[dev,plots,serve,slurm,track,text,ctranslate2]'
	touch $@ $(VENV)/.demo-ready

$(VENV)/.docs-ready: $(INPUTS) | $(BIN)/python
	PIP_CONSTRAINT=constraints.txt $(PIP) --editable '.[docs]'
	touch $@

$(VENV)/.browser-ready: $(VENV)/.dev-ready
	PIP_CONSTRAINT=constraints.txt $(PIP) --editable '.[browser]'
	touch $@

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

clean:
	rm -rf $(VENV) demo site fuzz-failures .pytest_cache .mypy_cache .ruff_cache .hypothesis
