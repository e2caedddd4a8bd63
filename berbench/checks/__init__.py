"""Lint: whether a task is a fair measurement, as far as its files and a few looked-up facts can tell. Pure."""

from berbench.checks.demands import Demands, demands_of
from berbench.checks.facts import LEAK_CODES, LintFacts
from berbench.checks.fixing import Fixes, fix
from berbench.checks.linting import lint
from berbench.checks.names import names_in_question

__all__ = ["LEAK_CODES", "Demands", "Fixes", "LintFacts", "demands_of", "fix", "lint", "names_in_question"]
