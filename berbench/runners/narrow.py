"""Deselects single tests by the runner's own means: the environment's noise goes, all else stays.

Every way here is exact, or there is none: a pattern that could also deselect a test that passes gives None.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from berbench.model.trial import TestResult
from berbench.runners.recognise import Found, find_runners
from berbench.runners.shell import Word, insert, parse, quote

_MOST_WORDS = 150  # more names than this on a command line help nobody


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What to leave out and what must stay."""

    command: str
    found: Found
    noise: tuple[str, ...]
    passing: tuple[str, ...]
    results: dict[str, TestResult]

    @property
    def words(self) -> tuple[Word, ...]:
        """The runner's arguments."""
        return self.found.command.words[self.found.at + 1 :]

    @property
    def end(self) -> int:
        """Offset after the last word of the runner's command."""
        return self.found.command.words[-1].end


def narrow(
    command: str, runner: str, noise: Sequence[str], passing: Sequence[str], results: Sequence[TestResult]
) -> str | None:
    """The command without the tests in `noise` and with all in `passing`; None when it can't be said exactly.

    `results` are the reference trial's, whose ids the other two use.
    """
    found = [one for one in find_runners(parse(command)) if one.runner == runner]
    way = _WAYS.get(runner)
    if way is None or len(found) != 1 or not noise or not passing:
        return None
    names = tuple(dict.fromkeys(_without_number(name, results) for name in noise))
    if set(names) & {_without_number(name, results) for name in passing}:
        return None
    return way(_Wanted(command, found[0], names, tuple(passing), {result.id: result for result in results}))


def _without_number(name: str, results: Sequence[TestResult]) -> str:
    """`a#2` is the second result of test `a`: the two can only be deselected together."""
    plain, _, number = name.rpartition("#")
    return plain if number.isdigit() and any(result.id == plain for result in results) else name


def _pytest(wanted: _Wanted) -> str | None:
    """`--deselect` takes prefixes of ids, so one that also begins a passing test's id can't be used.

    A file that can't be collected stops the session even when all its tests are deselected: it must not be
    named at all, and not be found either."""
    lost = [name for name in wanted.noise if "::" not in name]
    noise = [name for name in wanted.noise if "::" in name and name.split("::")[0] not in lost]
    if any(passing.startswith(name) for name in (*noise, *lost) for passing in wanted.passing):
        return None
    named = [word for word in wanted.words if word.text.removeprefix("./").split("::")[0] in lost]
    positional = [word for word in wanted.words if not word.text.startswith("-")]
    if named and len(named) == len(positional):
        return None
    flags = [f"--ignore={quote(file)}" for file in lost] + [f"--deselect={quote(name)}" for name in noise]
    return _replace(insert(wanted.command, [(wanted.end, "".join(f" {flag}" for flag in flags))]), named, "")


def _replace(command: str, words: Sequence[Word], text: str) -> str:
    """The command with `text` in place of the first of the words, the others gone."""
    for index in range(len(words) - 1, -1, -1):
        start, end = words[index].start, words[index].end
        new = text if index == 0 else ""
        if not new and command[start - 1 : start] == " ":
            start -= 1
        command = command[:start] + new + command[end:]
    return command


def _go(wanted: _Wanted) -> str | None:
    """`-run` with the top-level tests that stay: `-skip` is younger than many projects' Go."""
    noise = {_top(wanted, name) for name in wanted.noise}
    passing = {_top(wanted, name) for name in wanted.passing}
    stay = sorted(passing - noise - {""})
    # A passing subtest of a failing test can't stay; a failing test's own name never passes in any package.
    lost = [n for n in wanted.passing if _top(wanted, n) in noise and "/" not in n.rsplit(".", 1)[-1]]
    if "" in noise or lost or not stay or len(stay) > _MOST_WORDS:
        return None
    own = [i for i, word in enumerate(wanted.words) if re.match(r"--?run(?:=|$)", word.text)]
    pattern = quote(f"^({'|'.join(stay)})$")
    if not own:
        return insert(wanted.command, [(wanted.found.insert_at, f" -run {pattern}")])
    first = own[0]
    last = first if "=" in wanted.words[first].text else first + 1
    if len(own) > 1 or last >= len(wanted.words):
        return None
    return _replace(wanted.command, wanted.words[first : last + 1], f"-run {pattern}")


def _top(wanted: _Wanted, name: str) -> str:
    """`example.com/a/b.TestX/sub` → `TestX`; "" for a package that could not be built."""
    package = wanted.results[name].file if name in wanted.results else ""
    test = name.removeprefix(f"{package}.") if package and name != package else ""
    return test.split("/")[0]


def _by_full_title(flag: str, own: str) -> Callable[[_Wanted], str | None]:
    """A negative pattern over the full title, which these runners make of all titles with spaces between."""

    def way(wanted: _Wanted) -> str | None:
        if any(re.match(own, word.text) for word in wanted.words):
            return None
        titles = {_full_title(wanted, name) for name in wanted.noise}
        if "" in titles or titles & {_full_title(wanted, name) for name in wanted.passing}:
            return None
        pattern = f"^(?!(?:{'|'.join(re.escape(title) for title in sorted(titles))})$)"
        return insert(wanted.command, [(wanted.end, f" {flag} {quote(pattern)}")])

    return way


def _full_title(wanted: _Wanted, name: str) -> str:
    """`file > outer > inner` → `outer inner`; "" for a file that could not be loaded, or an ambiguous title."""
    file = wanted.results[name].file if name in wanted.results else ""
    titles = name.removeprefix(f"{file} > ") if file else name
    return "" if titles == file or "\n" in titles else titles.replace(" > ", " ")


def _dotted(wanted: _Wanted) -> str | None:
    """unittest and Django: the labels are replaced by those of all that stays."""
    values = {
        "-k",
        "-p",
        "-s",
        "-t",
        "--pattern",
        "--settings",
        "--testrunner",
        "--tag",
        "--exclude-tag",
        "--parallel",
    }
    labels: list[Word] = []
    skip = False
    for word in wanted.words:
        if not skip and not word.text.startswith("-"):
            labels.append(word)
        skip = word.text in values
    if not labels or any("/" in w.text or w.text in ("discover", "test") or not w.plain for w in labels):
        return None
    passing = {name.split(" (")[0] for name in wanted.passing}
    noise = {name.split(" (")[0] for name in wanted.noise} | _broken_classes(wanted.noise)
    if not all(any(_below(name, label.text) for label in labels) for name in passing):
        return None  # ids that do not start with the labels can't be used as labels
    stay = _cover(passing, noise)
    if stay is None or len(stay) > _MOST_WORDS:
        return None
    return _replace(wanted.command, labels, " ".join(quote(name) for name in stay))


def _broken_classes(noise: Sequence[str]) -> set[str]:
    """`setUpClass (tests.test_x.TestA)` → `tests.test_x.TestA`."""
    return {match[1] for name in noise if (match := re.match(r"(?:setUp|tearDown)\w+ \((.+)\)$", name))}


def _below(name: str, label: str) -> bool:
    return name == label or name.startswith(f"{label}.")


def _cover(passing: set[str], noise: set[str]) -> list[str] | None:
    """The shortest dotted names that hold all of `passing` and none of `noise`."""
    stay: set[str] = set()
    for name in sorted(passing):
        parts = name.split(".")
        # a module or a class stands for its tests; a package is never named, it may hold unseen tests
        for length in range(max(1, len(parts) - 2), len(parts) + 1):
            label = ".".join(parts[:length])
            if not any(_below(bad, label) or _below(label, bad) for bad in noise):
                stay.add(label)
                break
        else:
            return None
    return sorted(stay)


def _cargo(wanted: _Wanted) -> str | None:
    """`--skip` is exact with `--exact`, which would change filters that are there already."""
    texts = [word.text for word in wanted.words]
    split = texts.index("--") if "--" in texts else len(texts)
    values = {
        "-p",
        "--package",
        "--test",
        "--bin",
        "--features",
        "-F",
        "--manifest-path",
        "--target",
        "--profile",
        "-j",
    }
    filters = [
        t
        for i, t in enumerate(texts[:split])
        if not t.startswith("-") and texts[i - 1 : i] != [] and texts[i - 1] not in values
    ]
    filters += [t for i, t in enumerate(texts[:split]) if i == 0 and not t.startswith("-")]
    if filters or any(not t.startswith("-") for t in texts[split + 1 :]):
        return None
    noise = {name.split(" ", 1)[1] for name in wanted.noise if " " in name}
    passing = {name.split(" ", 1)[1] for name in wanted.passing if " " in name}
    if (
        len(noise) != len(wanted.noise)
        or noise & passing
        or any(n.startswith("doc-tests ") for n in wanted.noise)
    ):
        return None
    flags = " ".join(("--exact", *(f"--skip {quote(name)}" for name in sorted(noise))))
    return insert(wanted.command, [(wanted.end, f" {flags}" if "--" in texts else f" -- {flags}")])


def _maven(wanted: _Wanted) -> str | None:
    """`-Dtest=A,B,!A#b`: exclusions after what is included."""
    own = [word for word in wanted.words if word.text.startswith("-Dtest=")]
    if len(own) != 1 or not own[0].plain:
        return None
    stay = {_simple(name) for name in wanted.passing}
    names = []
    for name in wanted.noise:
        simple = _simple(name)
        if simple in stay or not re.fullmatch(r"[\w$]+#\w+", simple):
            return None
        names.append(f"!{simple}")
    value = ",".join((own[0].text.removeprefix("-Dtest="), *dict.fromkeys(names)))
    return _replace(wanted.command, own, f"-Dtest={quote(value)}")


def _simple(name: str) -> str:
    """`a.b.BTest#bad[1]` → `BTest#bad`: exclusions go by a class's simple name."""
    owner, _, method = _method(name).rpartition("#")
    return f"{owner.rsplit('.', 1)[-1]}#{method}"


def _method(name: str) -> str:
    """A test without its parameters, which Maven can't tell apart."""
    return re.split(r"[(\[]", name, maxsplit=1)[0]


def _gradle(wanted: _Wanted) -> str | None:
    """`--tests` only includes, so all that stays is named."""
    own = [i for i, word in enumerate(wanted.words) if word.text == "--tests"]
    tasks = [word for word in wanted.words if re.search(r"(?:^|:)\w*[tT]est$", word.text)]
    if not own or len(tasks) != 1 or any("#" not in name for name in wanted.passing):
        return None
    methods = {_method(name) for name in wanted.passing}
    if methods & {_method(name) for name in wanted.noise} or len(methods) > _MOST_WORDS:
        return None
    words = [wanted.words[j] for i in own for j in (i, i + 1) if j < len(wanted.words)]
    names = " ".join(f"--tests {quote(method.replace('#', '.'))}" for method in sorted(methods))
    return _replace(wanted.command, words, names)


_WAYS: dict[str, Callable[[_Wanted], str | None]] = {
    "pytest": _pytest,
    "go": _go,
    "jest": _by_full_title("-t", r"-t|--testNamePattern"),
    "vitest": _by_full_title("-t", r"-t|--testNamePattern"),
    "mocha": _by_full_title("--grep", r"-g|--grep|-f|--fgrep|-i|--invert"),
    "unittest": _dotted,
    "django": _dotted,
    "cargo": _cargo,
    "maven": _maven,
    "gradle": _gradle,
}
