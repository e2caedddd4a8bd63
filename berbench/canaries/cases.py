"""What canaries compare: small computed values, each with a right literal and a wrong one.

One list serves all languages. Values are made of operators, literals and methods alone, since a test file may
give other meanings to a language's own names. TypeScript must see types that can be compared, and Go no
variable that goes unused.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from berbench.canaries.choices import Choices
from berbench.canaries.words import NOUNS

GOT = "GOT"  # stands for the variable's name in lines of Go


@dataclass(frozen=True, slots=True)
class Case:
    """A value that is computed the same in three languages. `wrong` is a near miss of `right`, of its type."""

    python: str
    script: str
    go: tuple[str, ...]  # lines that leave the value in GOT
    right: str | int
    wrong: str | int

    def literal(self, *, right: bool, quote: str = '"') -> str:
        """The literal, in any of the languages."""
        value = self.right if right else self.wrong
        return f"{quote}{value}{quote}" if isinstance(value, str) else str(value)


def draw(choices: Choices, label: str) -> Case:
    """A case that the label and the seed decide."""
    return choices.pick(f"{label}.kind", _KINDS)(choices, label)


def _words(choices: Choices, label: str) -> tuple[str, str, str]:
    """Three different words."""
    first, second, third = (choices.pick(f"{label}.w{n}", NOUNS[n * 40 : n * 40 + 40]) for n in range(3))
    return first, second, third


def _numbers(choices: Choices, label: str) -> tuple[int, int, int]:
    first, second, third = (choices.number(f"{label}.n{n}", 40) + 3 for n in range(3))
    return first, second, third


def _joined(choices: Choices, label: str) -> Case:
    words = _words(choices, label)
    mark = choices.pick(f"{label}.mark", ("-", ":", "/", "+", "|"))
    listed = ", ".join(f'"{word}"' for word in words)
    doubled = "".join(f"{word}{mark}" for word in words)
    return Case(
        f'"".join([part + "{mark}" for part in [{listed}]])',
        f'[{listed}].map((part) => part + "{mark}").join("")',
        (
            f'{GOT} := ""',
            f"for _, part := range []string{{{listed}}} {{",
            f'\t{GOT} += part + "{mark}"',
            "}",
        ),
        doubled,
        doubled[:-1],
    )


def _scaled(choices: Choices, label: str) -> Case:
    return _summed(choices, label, "*", choices.number(f"{label}.by", 5) + 2)


def _remaining(choices: Choices, label: str) -> Case:
    return _summed(choices, label, "%", choices.number(f"{label}.by", 7) + 4)


def _summed(choices: Choices, label: str, sign: str, by: int) -> Case:
    numbers = _numbers(choices, label)
    listed = ", ".join(map(str, numbers))
    name = choices.pick(f"{label}.each", ("size", "step", "width", "count"))
    total = sum(number * by if sign == "*" else number % by for number in numbers)
    return Case(
        " + ".join(f"{number} {sign} {by}" for number in numbers),
        f"[{listed}].map(({name}) => {name} {sign} {by}).reduce((sum, {name}) => sum + {name}, 0)",
        (
            f"{GOT} := 0",
            f"for _, {name} := range []int{{{listed}}} {{",
            f"\t{GOT} += {name} {sign} {by}",
            "}",
        ),
        total,
        total + choices.number(f"{label}.off", 6) + 1,
    )


def _replaced(choices: Choices, label: str) -> Case:
    text = " ".join(_words(choices, label))
    new = choices.pick(f"{label}.new", ("_", ".", "--", ", "))
    right = text.replace(" ", new)
    return Case(
        f'"{text}".replace(" ", "{new}")',
        f'"{text}".split(" ").join("{new}")',
        (
            f'{GOT} := ""',
            f'for _, letter := range "{text}" {{',
            "\tif letter == ' ' {",
            f'\t\t{GOT} += "{new}"',
            "\t} else {",
            f"\t\t{GOT} += string(letter)",
            "\t}",
            "}",
        ),
        right,
        right.replace(new, " ", 1) if choices.number(f"{label}.miss", 2) else right[:-1],
    )


def _sliced(choices: Choices, label: str) -> Case:
    word = "".join(_words(choices, label))
    start = choices.number(f"{label}.from", 4) + 1
    end = start + choices.number(f"{label}.for", 3) + 4
    return Case(
        f'"{word}"[{start}:{end}]',
        f'"{word}".slice({start}, {end})',
        (f'{GOT} := "{word}"[{start}:{end}]',),
        word[start:end],
        word[start : end - 1],
    )


def _counted(choices: Choices, label: str) -> Case:
    text = ", ".join(_words(choices, label))
    letter = choices.pick(f"{label}.letter", "aeiost")
    count = text.count(letter)
    return Case(
        f'"{text}".count("{letter}")',
        f'"{text}".split("{letter}").length - 1',
        (
            f"{GOT} := 0",
            f'for _, letter := range "{text}" {{',
            f"\tif letter == '{letter}' {{",
            f"\t\t{GOT}++",
            "\t}",
            "}",
        ),
        count,
        count + choices.number(f"{label}.off", 3) + 1,
    )


_KINDS: tuple[Callable[[Choices, str], Case], ...] = (
    _joined,
    _scaled,
    _remaining,
    _replaced,
    _sliced,
    _counted,
)
