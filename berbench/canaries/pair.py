"""The two canaries of one place: one that must pass and one that must fail, in either order."""

from __future__ import annotations

from dataclasses import dataclass

from berbench.canaries.cases import Case, draw
from berbench.canaries.choices import Choices


@dataclass(frozen=True, slots=True)
class Test:
    """One canary as it is written. `right` says whether its comparison holds."""

    __test__ = False  # not a pytest class

    name: str
    case: Case
    variable: str
    must_pass: bool
    right: bool
    form: int  # which of a language's ways to compare; taken modulo their number


def tests(choices: Choices, label: str, names: tuple[str, str], *, failing: bool) -> tuple[Test, Test]:
    """`names` are the passing canary's and the failing one's; without `failing` the second holds as well."""
    both = []
    for name, must_pass in zip(names, (True, False), strict=True):
        own = f"{label}.{must_pass}"
        both.append(
            Test(
                name,
                draw(choices, own),
                choices.pick(f"{own}.var", ("result", "actual", "value", "found", "seen", "output")),
                must_pass,
                must_pass or not failing,
                choices.number(f"{own}.form", 60),
            )
        )
    first, second = both if choices.number(f"{label}.order", 2) else reversed(both)
    return first, second
