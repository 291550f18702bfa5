# make demo   set up and run the default workflow: a language model on real text, and checks on simulated corpora
# make quick  before a commit: lint, and the tests that need no workflow, browser, torch or process (45 s)
# make test   set up and run lint, unit, contract and workflow tests; K=coherence: only those that concern one critic
# make lint   check style, types and language
# make test-faults  kill runs in every rule and while they train, fill the disk, compare the results byte by byte
# make test-cluster  start a real Slurm of three nodes here (apt install slurm-wlm munge) and run on it
# make test-package  build the wheel and the sdist, and use them in a fresh environment
# make test-versions  run quick tests and those of models with the oldest and the newest dependencies that are allowed
# make papers  run the small version of each paper's experiment: every table and figure, on simulated corpora
# make bench  measure speed against references
# make calibration   simulate every p-value and interval whose code has changed (all: three hours and a half of one core), and
#                    write docs/generated/calibration.md and the pages below it; what is finished is kept in calibration.csv
# make docs   write the generated files: docs/generated/{config,commands,languages,layouts}.md, config/ and the schema
# make release   build the wheel and the sdist in dist/, check them, and write the notes of the release
# make tutorials  run the tutorials, and write what they print, their figures and their reports into docs/
# make gallery  run the encyclopaedia of the default run, and store its report and the picture of README.md (Chromium)
# make site   build docs/ into build/site, strictly: a broken link is an error
# make lock   write the locked versions from the ranges in pyproject.toml

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# snakefmt and the jobs find their tools here.
export PATH := $(abspath $(VENV))/bin:$(PATH)
# Without bytecode, which container images often turn off, every process compiles the package again, and every process of
# pytest all tests.
unexport PYTHONDONTWRITEBYTECODE
# The parts of lint, of which two run at the same time.
LINT := lint-types lint-workflow lint-language lint-style
CORES ?= all
# The PyTorch that the environments are locked to: the newest one brings gigabytes of CUDA to machines without a GPU.
TORCH ?= 2.13.0

.PHONY: demo quick quick-tests test test-faults test-cluster test-package test-versions lint $(LINT) papers bench calibration docs \
        tutorials gallery site lock release
.SILENT:

demo: $(VENV)/core.done
	echo "== Running the default workflow (config.yaml) =="
	$(BIN)/macroscope run --config config.yaml --cores $(CORES)

quick: $(VENV)/dev.done
	$(MAKE) --no-print-directory --jobs 2 quick-tests $(LINT)

quick-tests:
	echo "== Quick tests =="
	OMP_NUM_THREADS=1 $(BIN)/pytest --quick -n auto --maxprocesses 8 --dist loadgroup --no-loadscope-reorder

test: lint site
	echo "== Tests =="
	OMP_NUM_THREADS=1 $(BIN)/pytest -n auto --maxprocesses 8 --dist loadgroup --no-loadscope-reorder $(if $(K),-k '$(K)')

test-faults: $(VENV)/dev.done
	echo "== Faults: kills in every rule, in the middle of trainings, and a full disk =="
	$(BIN)/pytest -m faults tests/faults

test-cluster: $(VENV)/dev.done
	echo "== Cluster: a whole run, nodes that die, jobs that are killed, on a real Slurm =="
	$(BIN)/pytest -m cluster -rs tests/cluster

test-package: $(VENV)/dev.done
	echo "== Package: the wheel and the sdist, in a fresh environment =="
	$(BIN)/pytest -m package tests/package

# The environments of a checkout are locked; those of pip's users are not. Later releases may deprecate what is called, and
# each of typer writes the reference of the commands in its own way.
test-versions:
	$(PYTHON) -m venv $(VENV).versions
	$(VENV).versions/bin/pip install --quiet --disable-pip-version-check uv
	for bound in lowest-direct highest; do \
		echo "== Versions: $$bound of what pyproject.toml allows =="; \
		$(VENV).versions/bin/uv pip install --quiet --python $(VENV).versions/bin/python --resolution $$bound --upgrade \
			--editable '.[languages,models]' 'torch==$(TORCH)' 'pytest>=9,<9.2' 'pytest-xdist>=3.6' 'hypothesis>=6.100' || exit 1; \
		OMP_NUM_THREADS=1 $(VENV).versions/bin/pytest --quick -n auto --maxprocesses 8 --dist loadgroup -o filterwarnings=default \
			--ignore tests/unit/test_commands_page.py || exit 1; \
		OMP_NUM_THREADS=1 $(VENV).versions/bin/pytest -o filterwarnings=default tests/unit/systems/language_model || exit 1; \
	done
	rm -r $(VENV).versions

lint: $(VENV)/dev.done
	$(MAKE) --no-print-directory --jobs 2 $(LINT)

lint-types:
	echo "== mypy: types =="
	$(BIN)/mypy

lint-style:
	echo "== ruff: style =="
	$(BIN)/ruff check workflow/macroscope workflow/scripts workflow/snakemake_logger_plugin_macroscope tests examples docs envs
	$(BIN)/ruff format --check workflow/macroscope workflow/scripts workflow/snakemake_logger_plugin_macroscope tests examples docs envs

lint-language:
	echo "== language: docstrings, names, sentences =="
	$(BIN)/python tests/language.py

lint-workflow:
	echo "== snakefmt and snakemake --lint: the workflow =="
	$(BIN)/snakefmt --check Snakefile workflow/Snakefile workflow/rules
	$(BIN)/snakemake --lint

papers: $(VENV)/core.done
	for config in experiments/*20*-small.yaml; do \
		echo "== $$config =="; \
		$(BIN)/macroscope run --config $$config --cores $(CORES) || exit 1; \
	done

bench: $(VENV)/dev.done
	for script in tests/benchmarks/bench_*.py; do echo "== $$script =="; $(BIN)/python $$script || exit 1; done

calibration: $(VENV)/dev.done
	echo "== Calibration: every p-value under its null, every interval against its truth =="
	$(BIN)/python -m tests.calibration
	OMP_NUM_THREADS=1 $(BIN)/pytest --all-runs -n auto --dist loadgroup tests/unit tests/workflow

docs: $(VENV)/core.done
	$(BIN)/macroscope config schema --output workflow/schemas/config.schema.json
	$(BIN)/macroscope config reference --output docs/generated/config.md
	$(BIN)/macroscope config languages --output docs/generated/languages.md
	$(BIN)/python docs/generated/commands_page.py
	$(BIN)/python docs/generated/layouts_page.py

tutorials: $(VENV)/dev.done
	echo "== Tutorials: their pages are run =="
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.tutorials

gallery: $(VENV)/dev.done
	$(BIN)/python -m tests.gallery

site: $(VENV)/docs.done
	echo "== mkdocs: the site, strictly =="
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	echo "build/site/index.html"

release:
	$(PYTHON) -m venv $(VENV).release
	$(VENV).release/bin/pip install --quiet --disable-pip-version-check build twine
	rm -rf dist
	mkdir dist
	PYTHONPATH=workflow $(VENV).release/bin/python envs/release_notes.py > dist/NOTES.md
	$(VENV).release/bin/python -m build --outdir dist
	$(VENV).release/bin/twine check --strict dist/*.whl dist/*.tar.gz
	rm -r $(VENV).release
	echo "== dist/ is ready: upload it with twine, and publish dist/NOTES.md =="

lock:
	$(PYTHON) -m venv $(VENV).lock
	$(VENV).lock/bin/pip install --quiet --upgrade pip
	$(VENV).lock/bin/pip install --quiet 'torch==$(TORCH)' '.[datasets,languages,models,slurm]' --group dev --group docs
	$(VENV).lock/bin/python envs/lock.py
	rm -r $(VENV).lock

# The environments: what a run needs, and what development needs besides.
$(VENV)/core.done: envs/core.lock.txt pyproject.toml
	echo "== Setting up $(VENV): a few minutes, once =="
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --no-compile -r envs/core.lock.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps -e .
	# On all cores, which pip does not use. What Python cannot compile (templates, files for other versions) it skips, too.
	$(BIN)/python -m compileall -q -q -j 0 $(VENV)/lib || true
	touch $@

$(VENV)/dev.done: $(VENV)/core.done envs/dev.lock.txt
	$(BIN)/pip install --quiet --disable-pip-version-check -r envs/dev.lock.txt
	touch $@

$(VENV)/docs.done: $(VENV)/core.done envs/docs.lock.txt
	$(BIN)/pip install --quiet --disable-pip-version-check -r envs/docs.lock.txt
	touch $@
