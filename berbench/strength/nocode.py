"""Differences that no test can notice: prose, comments, docstrings, blank lines. Pure.

They are not run, and count for nothing. Where it can't be told for sure, a difference is code.
"""

from __future__ import annotations

import ast
import posixpath
import re
import warnings
from collections.abc import Iterable

from berbench.checks.patches import is_prose

_SLASHES = frozenset(
    {".c", ".h", ".cc", ".cpp", ".hpp", ".cs", ".go", ".java", ".kt", ".scala", ".rs", ".swift", ".dart"}
    | {".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts"}
)
_HASHES = frozenset({".rb", ".sh", ".pl", ".r", ".ex", ".exs", ".toml", ".cfg", ".ini", ".yaml", ".yml"})
# ` * ` continues a block comment; `*p` is code.
_SLASH_COMMENT = re.compile(r"\s*(?://.*|/\*(?:(?!\*/).)*(?:\*/)?|\*(?:[ \t].*)?|\*/)\s*")
_HASH_COMMENT = re.compile(r"\s*#.*")


def no_code(path: str, with_it: bytes, without: bytes, changed: Iterable[str]) -> bool:
    """Whether a file with and without a change is the same program. `changed` are the lines it adds and deletes."""
    suffix = posixpath.splitext(path)[1].lower()
    if is_prose(path) and (suffix != ".txt" or _for_people(path)):
        return True
    if suffix in (".py", ".pyi"):
        before, after = python_shape(without), python_shape(with_it)
        return before is not None and before == after
    if suffix in _SLASHES:
        return all(not line.strip() or _SLASH_COMMENT.fullmatch(line) for line in changed)
    if suffix in _HASHES:
        return all(not line.strip() or _HASH_COMMENT.fullmatch(line) for line in changed)
    return all(not line.strip() for line in changed) and suffix not in ("", ".snap", ".txt", ".html", ".csv")


def _for_people(path: str) -> bool:
    """Whether a plain text is documentation; others may be what a program reads."""
    folders = posixpath.dirname(path).lower().split("/")
    return not {"doc", "docs"}.isdisjoint(folders) or is_prose(posixpath.splitext(path)[0])


def parsed(source: bytes | str) -> ast.Module | None:
    """Python's own reading of a file, None for what it can't read."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of escapes in other people's texts
        try:
            return ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


def only_hints(path: str, with_it: bytes, without: bytes) -> bool:
    """Whether annotations of functions are all that differs. A program may read its own: that is for a trial."""
    if posixpath.splitext(path)[1].lower() != ".py":
        return False
    before, after = python_shape(without, hints=False), python_shape(with_it, hints=False)
    return before is not None and before == after


def python_shape(source: bytes | str, *, texts: bool = True, hints: bool = True) -> str | None:
    """A Python program without layout, comments and docstrings; without `texts`, without what its strings say;
    without `hints`, without the annotations of functions. None when it can't be parsed.
    """
    tree = parsed(source)
    if tree is None:
        return None
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            bare = [statement for statement in body if not _is_text(statement)]
            node.body = bare or [ast.Pass()]  # type: ignore[attr-defined]
        if not texts and isinstance(node, ast.Constant) and isinstance(node.value, str | bytes):
            node.value = ""
        if not hints and isinstance(node, ast.arg):
            node.annotation = None
        if not hints and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            node.returns = None
    return ast.dump(tree)


def _is_text(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )
