# Commands for contributors; each is safe to repeat.
.PHONY: run test check audit
PY ?= python3
run:            ## install, fetch, convert, start: the page opens at http://127.0.0.1:8600
	$(PY) serving/install.py run
test:           ## install and run every test, real engine and browser included
	$(PY) serving/install.py test
check:          ## what a commit has to pass: format, lint, types, quick tests
	.venv/bin/ruff format --check .
	.venv/bin/ruff check .
	.venv/bin/mypy
	.venv/bin/python -m pytest -q -m "not engine and not browser and not postgres"
audit:          ## known holes in what is installed; says so where no vulnerability service answers
	.venv/bin/python -m serving.audit
