"""What is unwise in a verify command: a hidden exit status, a whole suite, a script that takes no files."""

from __future__ import annotations

from posixpath import basename

from berbench.runners.recognise import Found, find_runners
from berbench.runners.shell import Line, Simple, parse

_SCRIPTS = frozenset({"test", "t", "tst"})


def command_warnings(command: str) -> tuple[str, ...]:
    """One sentence for each thing; none for a command that names tests and keeps its exit status."""
    line = parse(command)
    if not line.sure:
        return (
            "the command is a shell program that can't be checked; a plain command keeps its exit status",
        )
    found = find_runners(line)
    warnings = [*_hidden_status(line), *(w for one in line.commands if (w := _script_with_files(one)))]
    warnings += [
        f"the command runs {one.runner}'s whole suite; name the changed tests"
        for one in found
        if _whole_suite(one)
    ]
    return tuple(dict.fromkeys(warnings))


def _hidden_status(line: Line) -> list[str]:
    warnings = []
    for index, command in enumerate(line.commands):
        last = index == len(line.commands) - 1
        if "|" in command.after and "||" not in command.after:
            warnings.append("a pipe hides the exit status of what stands before it")
        if "||" in command.after:
            warnings.append("`||` lets the command pass although its first part failed")
        hides = any(mark in command.after for mark in (";", "\n"))
        if hides and not last and not _only_prepares(command):
            warnings.append("`;` or a new line hides the exit status of what stands before it; use `&&`")
        if command.after.replace("&&", "").replace("|&", "").strip(") ") == "&":
            warnings.append("`&` runs a part in the background, and its exit status is lost")
    return warnings


def _only_prepares(command: Simple) -> bool:
    """`cd`, `export` and `set` lines fail loudly enough in what follows."""
    words = command.words[command.assignments :]
    return not words or words[0].text in ("cd", "export", "set", "unset", "umask", "ulimit", "source", ".")


def _script_with_files(command: Simple) -> str:
    """`npm test -- files` hands the files to the last program of a script's chain, which may be another one."""
    texts = [word.text for word in command.words[command.assignments :]]
    if len(texts) < 3 or basename(texts[0]) not in ("npm", "yarn", "pnpm"):
        return ""
    run = texts[1] in ("run", "run-script") and len(texts) > 3
    if texts[1] not in _SCRIPTS and not (run and texts[2].startswith("test")):
        return ""
    return (
        f"`{texts[0]} {' '.join(texts[1 : 3 if run else 2])}` with arguments hands them to the last program of a "
        "script's chain; call the test runner itself"
    )


def _whole_suite(found: Found) -> bool:
    arguments = found.arguments
    if found.runner == "go":
        return "./..." in arguments and not any(a.startswith(("-run", "--run")) for a in arguments)
    if found.runner in ("cargo", "nextest"):
        return not any(not a.startswith("-") or a.startswith(("--test", "--lib", "--bin")) for a in arguments)
    if found.runner == "maven":
        return not any(a.startswith(("-Dtest=", "-Dit.test=")) for a in arguments)
    if found.runner == "gradle":
        return "--tests" not in arguments
    if found.runner == "unittest":
        return not any(not a.startswith("-") and a != "discover" for a in arguments) and "-p" not in arguments
    return not any(_selects(a) for a in arguments)


def _selects(argument: str) -> bool:
    """Whether an argument names tests rather than a whole folder of them."""
    return not argument.startswith("-") and argument.rstrip("/") not in (
        ".",
        "tests",
        "test",
        "run",
        "src",
        "spec",
    )
