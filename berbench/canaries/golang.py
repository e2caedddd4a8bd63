"""Canaries in Go: functions that `go vet`, which `go test` runs first, has nothing to say about."""

from __future__ import annotations

import re
from collections.abc import Sequence
from posixpath import basename

from berbench.canaries.arguments import names
from berbench.canaries.cases import GOT
from berbench.canaries.pair import Test

_CLAUSE = re.compile(r"^package[ \t]+(\w+)", re.MULTILINE)
_CONSTRAINT = re.compile(r"^//go:build [^\n]*$|^// \+build [^\n]*$", re.MULTILINE)
_TESTING = re.compile(r'^(?:import[ \t]+|[ \t]+)"testing"[ \t]*(?://[^\n]*)?$', re.MULTILINE)
# What a file's name says of where it is built; such a file may be left out of the run.
_PLATFORMS = names(
    """
    aix android darwin dragonfly freebsd hurd illumos ios js linux nacl netbsd openbsd plan9 solaris wasip1 windows
    zos 386 amd64 arm arm64 loong64 mips mips64 mips64le mipsle ppc64 ppc64le riscv riscv64 s390x sparc64 wasm
    """
)


def read(path: str, data: bytes) -> tuple[str, str] | None:
    """(build constraints, package clause) of a test file, None where its name or they may keep it out."""
    stem = basename(path).removesuffix("_test.go")
    text = data.decode("utf-8", "replace").replace("\r\n", "\n")
    code = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    clause = _CLAUSE.search(code)
    if not path.endswith("_test.go") or clause is None or set(stem.split("_")[1:]) & _PLATFORMS:
        return None
    constraints = _CONSTRAINT.findall(code[: clause.start()])
    if any(re.search(r"\bignore\b|\ufffd", line) for line in constraints):  # or is no UTF-8
        return None
    return "".join(f"{line}\n" for line in constraints), clause[1]


def takes(data: bytes) -> bool:
    """Whether a function of `*testing.T` can stand at the end of this file."""
    text = data.decode("utf-8", "replace").replace("\r\n", "\n")
    imports = re.split(r"^(?:func|type|var|const)\b", text, maxsplit=1, flags=re.MULTILINE)[0]
    return _TESTING.search(re.sub(r"/\*.*?\*/", "", imports, flags=re.DOTALL)) is not None


def head(constraints: str, package: str) -> str:
    """The top of a file of its own."""
    return f'{constraints}{chr(10) if constraints else ""}package {package}\n\nimport "testing"\n\n'


def write(tests: Sequence[Test]) -> str:
    """The text of canaries. It begins at the first line, with no blank ones before."""
    return "\n".join(_function(test) for test in tests)


def _function(test: Test) -> str:
    literal, verb = test.case.literal(right=test.right), "%q" if isinstance(test.case.right, str) else "%d"
    name = "got" if test.form % 2 else test.variable
    lines = [line.replace(GOT, name) for line in test.case.go]
    stop = "Fatalf" if test.form % 3 == 0 else "Errorf"
    if test.form % 5 < 3:
        lines += [f"if want := {literal}; {name} != want {{"]
        lines += [f'\tt.{stop}("{name} = {verb}, want {verb}", {name}, want)', "}"]
    else:
        lines += [f"if {name} != {literal} {{", f'\tt.{stop}("unexpected {name}: {verb}", {name})', "}"]
    return "\n".join((f"func {test.name}(t *testing.T) {{", *(f"\t{line}" for line in lines), "}", ""))
