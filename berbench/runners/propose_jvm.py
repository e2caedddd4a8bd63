"""Maven and Gradle: the changed test classes in their modules."""

from __future__ import annotations

import re
from posixpath import basename, splitext

from berbench.model.changes import Snapshot
from berbench.runners.proposal import Proposal, files, files_beside, nearest, relative
from berbench.runners.shell import quote

_GRADLE = ("build.gradle", "build.gradle.kts")
_TEST = re.compile(r"(?:Tests?|TestCase|IT|Spec|Suite)$|^Test[A-Z0-9]")
_SOURCES = re.compile(r"(?:^|/)src/(?P<set>\w*[tT]est\w*|it)/(?:java|kotlin|groovy|scala)/(?P<inner>.+)$")


def propose_jvm(snapshot: Snapshot, changed: tuple[str, ...]) -> Proposal:
    """The command for changed tests of a Maven or Gradle build."""
    tests = tuple(path for path in changed if _is_test(path))
    reasons = [f"runs the {files(len(tests))}"]
    if not tests:
        tests = files_beside(snapshot, changed, _is_test)
        reasons = ["only helpers or data changed: runs the tests beside them"]
    if not tests:
        return Proposal("", "", ("no test class is near the changed files",))
    if any(name in snapshot.paths for name in (*_GRADLE, "settings.gradle", "settings.gradle.kts")):
        return _gradle(snapshot, tests, reasons)
    if "pom.xml" in snapshot.paths:
        return _maven(snapshot, tests, reasons)
    return Proposal("", "", ("neither a pom.xml nor a Gradle build stands at the root",))


def _is_test(path: str) -> bool:
    stem, extension = splitext(basename(path))
    return extension in (".java", ".kt", ".groovy", ".scala") and _TEST.search(stem) is not None


def _maven(snapshot: Snapshot, tests: tuple[str, ...], reasons: list[str]) -> Proposal:
    modules = sorted({nearest(snapshot, test, ("pom.xml",)) or "" for test in tests})
    only = "" if modules == [""] else f" -pl {quote(','.join(module or '.' for module in modules))} -am"
    classes = ",".join(dict.fromkeys(splitext(basename(test))[0] for test in tests))
    # With -am the modules below run too, where the pattern matches nothing; that is no failure.
    lenient = " -DfailIfNoTests=false -Dsurefire.failIfNoSpecifiedTests=false" if only else ""
    return Proposal(f"mvn -B -o{only} -Dtest={quote(classes)}{lenient} test", "maven", tuple(reasons))


def _gradle(snapshot: Snapshot, tests: tuple[str, ...], reasons: list[str]) -> Proposal:
    tasks: dict[str, list[str]] = {}
    for test in tests:
        module = nearest(snapshot, test, _GRADLE) or ""
        (inner,) = relative((test,), module)
        source = _SOURCES.search(inner)
        task = "test" if source is None or source["set"] in ("test", "it") else source["set"]
        project = f":{module.replace('/', ':')}" if module else ""
        name = splitext(source["inner"])[0].replace("/", ".") if source else f"*{splitext(basename(test))[0]}"
        tasks.setdefault(f"{project}:{task}", []).append(name)
    program = "./gradlew" if "gradlew" in snapshot.paths else "gradle"
    words = " ".join(
        f"{quote(task)} {' '.join(f'--tests {quote(name)}' for name in names)}"
        for task, names in sorted(tasks.items())
    )
    return Proposal(f"{program} --offline {words}", "gradle", tuple(reasons))
