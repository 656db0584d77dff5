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
audit:          ## known holes in what is installed; needs a vulnerability service, so it is no part of `check`
	.venv/bin/python -m pip install -q "pip-audit>=2.9,<3"
	.venv/bin/pip-audit --skip-editable
