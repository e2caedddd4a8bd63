# Two lines are enough on a fresh machine: `make demo` shows what berbench does, `make test` proves that it works.

PY := .venv/bin/python
TWO := -n 2 --dist worksteal

.PHONY: help setup engine base egress browser demo test check bench clean

help:  ## what can be made
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 14

setup:  ## .venv with berbench and its development tools; does nothing when nothing changed
	@sh .ci/setup

engine:  ## make sure that a container engine answers
	@sh docker/ensure-engine.sh

base: engine  ## the small base image that the demo and the tests build on
	@sh docker/base-image.sh

egress: setup engine base  ## the image of the proxy through which agents reach their models
	@$(PY) -c 'from berbench.engine.docker_engine import DockerEngine as E; e = E(); print("egress:", e.egress().id); e.close()'

demo: setup engine base  ## scan, create, lint and validate a sample repository in real containers
	@.venv/bin/berbench demo

browser:  ## make sure that there is a Chromium for the tests of reports
	@sh .ci/browser

test: setup engine base egress browser  ## the whole suite, real containers and a real browser included
	$(PY) -m pytest --docker --browser

check: setup  ## lint, format, types, and the tests that need no engine with their coverage
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy
	$(PY) -m pytest -q $(TWO) --cov

bench: setup engine base  ## the budgets of the design, as ratios measured in one run
	$(PY) -m benchmarks

clean:  ## what setup, check and the tests left in this folder
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .coverage .coverage.* build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
