# Short names for those who have make. Each line works without it too (Windows: py instead of python3).
PYTHON ?= python3

.PHONY: start test doctor notebooks bench pins clean

start:  ## set everything up and open JupyterLab on chapter 00
	$(PYTHON) -m course_lib start

test:  ## set everything up and run all tests
	$(PYTHON) -m course_lib test

doctor:  ## say what is wrong with the environment, and how to mend it
	$(PYTHON) -m course_lib doctor

notebooks:  ## run all chapters and solutions anew and tidy them, in place
	$(PYTHON) -m course_lib notebooks

bench:  ## measure how fast the live meter and the counting of tokens are (two minutes; needs Chromium)
	$(PYTHON) -m course_lib bench meter
	$(PYTHON) -m course_lib bench tokens

# Pins for every system and every Python from 3.11 on; no URL and no index gets into the files (a test looks).
# Newer versions than the present pins only on request: make pins UPGRADE=--upgrade
COMPILE = uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header $(UPGRADE)

pins:  ## write requirements.txt and requirements-dev.txt from pyproject.toml (needs uv)
	$(COMPILE) pyproject.toml --group build --output-file requirements.txt
	$(COMPILE) pyproject.toml --group build --extra dev --constraint requirements.txt --output-file requirements-dev.txt

clean:  ## remove the environment and all caches; learners' work stays
	rm -rf .venv .venv.lock build dist .pytest_cache .ruff_cache .mypy_cache .hypothesis
	find course_lib tests chapters exercises solutions -name __pycache__ -prune -exec rm -rf {} + || true
