"""pytest: files, folders and node ids; `-k` is widened, `-m` must let unmarked tests through."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from posixpath import basename, dirname, join

from berbench.canaries.arguments import Argument, Arguments, Edit, below, globbed, names, plain_path, read
from berbench.canaries.ways import Planted, Reach
from berbench.evidence.names import is_test_file
from berbench.runners.recognise import Found
from berbench.runners.shell import quote

_VALUES = names(
    """
    -k -m -p -c -o -n -W -r --rootdir --confcutdir --basetemp --ignore --ignore-glob --deselect --junitxml --junit-xml
    --junit-prefix --tb --maxfail --durations --durations-min --color --capture --verbosity --log-level --log-cli-level
    --log-file --log-format --override-ini --config-file --import-mode --numprocesses --maxprocesses --dist --tx --cov
    --cov-report --cov-config --cov-fail-under --timeout --timeout-method --reruns --reruns-delay --only-rerun --count
    --ds --dc --asyncio-mode --html --random-order-seed --randomly-seed --show-capture --cache-show --pythonwarnings
    --assert --doctest-glob --hypothesis-profile --hypothesis-seed --hypothesis-verbosity
    """
)
# Flags that choose tests by what ran before or by number, that run none, or that wait for a person; letters in one
# word of which the last takes a value.
_REFUSED = (
    r"--lf|--last-failed|--sw.*|--stepwise.*|--co|--collect-only|--setup-only|--setup-plan|--pdb|--trace|--pyargs"
    r"|--testmon.*|--picked.*|--shard-id|--num-shards|--splits|--group|-[vqxslh]+[kmpconWr].*"
)


class Pytest:
    """The way of pytest."""

    def read(self, found: Found) -> Arguments | None:
        """None when a flag chooses tests in a way that can't be widened."""
        arguments = read(found, _VALUES)
        unsure = any(not word.plain or word.first.text.startswith("@") for word in arguments.words)
        if (
            unsure
            or arguments.has(_REFUSED)
            or not all(map(_lets_unmarked_through, arguments.named("-m")[-1:]))
        ):
            return None
        return arguments

    def reach(self, arguments: Arguments, path: str) -> Reach | None:
        """A whole file counts more than its single tests, and a folder more than a file."""
        part = None
        exact = None
        for word in arguments.words:
            file = plain_path(word.first.text.split("::")[0])
            if below(path, file) or (globbed(word.first, path, by_runner=False)):
                return Reach() if is_test_file(path) else None
            if file == path and "::" in word.first.text:
                part = word
            elif file == path:
                exact = word
        if exact or part:
            return Reach(exact or part, part=exact is None)
        found_by_itself = not arguments.words and not path.startswith("../") and is_test_file(path)
        return Reach() if found_by_itself else None

    def finds(self, arguments: Arguments, path: str, neighbour: str) -> bool:
        """By its name, where a folder is searched."""
        globs = [word for word in arguments.words if globbed(word.first, neighbour, by_runner=False)]
        return all(globbed(word.first, path, by_runner=False) for word in globs)

    def edits(self, arguments: Arguments, planted: Sequence[Planted]) -> list[Edit] | None:
        """Files and node ids beside those named, a wider `-k`, and no end after a number of failures."""
        edits = [edit for one in planted if (edit := _named(one))]
        for flag in arguments.named("-k")[-1:]:
            expression = (flag.value or "").strip()
            if not flag.plain or expression.startswith("-") or expression.endswith(":"):
                return None
            if expression:
                names = [name for one in planted for name in one.names]
                edits.append(flag.becomes(f"-k {quote(' or '.join((f'({expression})', *names)))}"))
        return [*edits, Edit(arguments.end, arguments.end, " --maxfail=0")]


def _named(planted: Planted) -> Edit | None:
    word = planted.reach.word
    if word is None:
        return None
    file = word.first.text.split("::")[0]
    if planted.beside:
        return word.followed_by([join(dirname(file), basename(planted.path))])
    return word.followed_by([f"{file}::{name}" for name in planted.names]) if planted.reach.part else None


def _lets_unmarked_through(flag: Argument) -> bool:
    """Whether a test without marks passes `-m`."""
    if not flag.plain or not (flag.value or "").strip():
        return flag.plain
    try:
        return _is_true(ast.parse((flag.value or "").strip(), mode="eval").body)
    except (SyntaxError, ValueError, RecursionError):
        return False


def _is_true(node: ast.expr) -> bool:
    """The expression with every mark absent. ValueError for what no expression of marks holds."""
    if isinstance(node, ast.BoolOp):
        values = [_is_true(value) for value in node.values]
        return all(values) if isinstance(node.op, ast.And) else any(values)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return not _is_true(node.operand)
    if isinstance(node, ast.Name | ast.Call):
        return False
    raise ValueError("no expression of marks")
