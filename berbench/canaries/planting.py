"""Plants canaries: writes them into and beside the hidden test files, and widens the command so that they run."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from posixpath import dirname, join, normpath, relpath

from berbench.canaries import arguments, chain, files, where
from berbench.canaries.arguments import Arguments, Edit
from berbench.canaries.choices import Choices
from berbench.canaries.way_go import Go
from berbench.canaries.way_pytest import Pytest
from berbench.canaries.way_script import Jest, Mocha, Node, Vitest
from berbench.canaries.way_unittest import Unittest
from berbench.canaries.ways import Planted, Reach, Way
from berbench.canaries.write import Pair, Writer
from berbench.model.changes import REGULAR, FileEntry
from berbench.model.grading import BESIDE, INSIDE, TWIN, Canary, Planting
from berbench.runners.recognise import Found, find_runners
from berbench.runners.shell import Line, parse

_MOST_FOLDERS = 3  # that get a file of their own beside the hidden ones

_WAYS: dict[str, Way] = {
    "pytest": Pytest(),
    "unittest": Unittest(),
    "django": Unittest(django=True),
    "go": Go(),
    "jest": Jest(),
    "vitest": Vitest(),
    "mocha": Mocha(),
    "node": Node(),
}


@dataclass(frozen=True, slots=True)
class _Call:
    """One runner's command in the line, and the folder it runs in."""

    found: Found
    arguments: Arguments
    folder: str


@dataclass(frozen=True, slots=True)
class _Made:
    """One written file with its canaries."""

    entry: FileEntry
    planted: Planted
    canaries: tuple[Canary, ...]


def plant(
    command: str,
    hidden: Mapping[str, FileEntry],
    *,
    seed: str,
    places: Collection[str] = (INSIDE, BESIDE),
    again: Collection[str] | None = None,
    quick: float | None = None,
    failing: bool = True,
    taken: Collection[str] = (),
) -> Planting | None:
    """The command with canaries for the hidden test files it runs; None when none can be planted for sure.

    `hidden` are test files by repository path, as they are in the trial's tree. All random choices come from
    `seed`, a hex string. `again` names the tests that a twin may run once more, `path::TestA.test_a`; None: any. Where
    one took more than `quick` seconds, its twin is skipped.
    Without `failing` the canaries that must fail hold as well, under the same names: for the
    trial of an `apart` command that must end with 0. `taken` are further paths that a new file may not have.

    What a project's settings say (ignored folders, patterns of file names, hooks around every test) is not known
    here, so a planting must be shown to run on the reference before it judges anyone.
    """
    line = parse(command)
    found = find_runners(line)
    way = _WAYS.get(found[-1].runner) if found else None
    if way is None:
        return None
    calls = _calls(line, way, found)
    if not calls or not chain.can_fail(line, [call.found for call in calls]):
        return None
    seen = [entry.data.decode("utf-8", "replace").lower() for entry in hidden.values()]
    choices = Choices(seed, [*seen, command.lower(), "\0".join((*hidden, *taken)).lower()])
    writer = Writer(found[-1].runner, choices, failing, again, quick)
    used: list[Found] = []
    made: list[_Made] = []
    edits: list[Edit] = []
    for call, reached in zip(calls, _reached(way, calls, hidden, writer), strict=True):
        own = _write(way, call, hidden, reached, writer, places, {*hidden, *taken})
        changes = way.edits(call.arguments, [one.planted for one in own]) if own else None
        if changes is not None:
            used, made, edits = [*used, call.found], [*made, *own], [*edits, *changes]
    apart = bool(used) and chain.is_apart(line, used)
    loosened = chain.unchained(line, used) if used and failing else []
    if not made or loosened is None:
        return None
    return Planting(
        command=arguments.rewrite(command, [*edits, *loosened]),
        writes=tuple(one.entry for one in made),
        canaries=tuple(canary for one in made for canary in one.canaries),
        apart=apart,
    )


def _calls(line: Line, way: Way, found: tuple[Found, ...]) -> list[_Call]:
    """The commands of the last runner, whose report is read, as far as folder and arguments are sure."""
    folders = where.folders(line)
    calls = []
    for one in found:
        index = next(i for i, command in enumerate(line.commands) if command is one.command)
        folder = folders[index]
        if one.runner != found[-1].runner or folder is None or where.moves(one):
            continue
        if one.runner == "django":
            script = one.command.words[one.at].text if one.at else ""
            folder = _django_folder(folder, one, script)
        read = way.read(one)
        if read is not None:
            calls.append(_Call(one, read, folder))
    return calls


def _django_folder(folder: str, found: Found, script: str) -> str:
    """Labels count from the folder of manage.py or runtests.py."""
    names = [word.text for word in found.command.words[: found.at + 1]]
    home = next((name for name in names if name.endswith(("manage.py", "runtests.py"))), script)
    return normpath(join(folder, dirname(home))) if "/" in home else folder


def _reached(
    way: Way, calls: list[_Call], hidden: Mapping[str, FileEntry], writer: Writer
) -> list[dict[str, Reach]]:
    """For each call the hidden files that it runs and no other does: twice run, a canary would be seen twice."""
    found: list[dict[str, Reach]] = [{} for _ in calls]
    for path, entry in hidden.items():
        if not writer.serves(entry):
            continue
        ways = [(i, way.reach(call.arguments, relpath(path, call.folder))) for i, call in enumerate(calls)]
        runs = [(i, reach) for i, reach in ways if reach is not None]
        if len(runs) == 1:
            found[runs[0][0]][path] = runs[0][1]
    return found


def _write(
    way: Way,
    call: _Call,
    hidden: Mapping[str, FileEntry],
    reached: Mapping[str, Reach],
    writer: Writer,
    places: Collection[str],
    taken: set[str],
) -> list[_Made]:
    made: list[_Made] = []
    if any(writer.silences(hidden[path]) for path in reached):
        return made
    for path, reach in reached.items():
        own = _inside(call, hidden[path], reach, writer, places)
        if own is not None:
            made.append(own)
    folders: set[str] = set()
    for path, reach in reached.items() if BESIDE in places else ():
        if dirname(path) in folders or len(folders) == _MOST_FOLDERS:
            continue
        new = files.beside(path, writer.runner, writer.choices, taken)
        if reach.word is None and not way.finds(
            call.arguments, relpath(new, call.folder), relpath(path, call.folder)
        ):
            continue
        pair = writer.beside(hidden[path], new)
        if pair is not None:
            folders.add(dirname(path))
            taken.add(new)
            planted = _planted(call, new, path, reach, pair, beside=True)
            entry = FileEntry(new, REGULAR, pair.data)
            made.append(_Made(entry, planted, _canaries(pair, writer, BESIDE, new)))
    return made


def _inside(
    call: _Call, entry: FileEntry, reach: Reach, writer: Writer, places: Collection[str]
) -> _Made | None:
    """A hidden file with a pair at its end, and with twins where the whole file is run; None with neither."""
    path = entry.path
    pair = (writer.inside(entry) if INSIDE in places else None) or Pair(entry.data, ())
    canaries = _canaries(pair, writer, INSIDE, path)
    if TWIN in places and not reach.part:
        data, names = writer.twins(entry, pair.data)
        pair = Pair(data, (*pair.names, *names), pair.group)
        canaries = (*canaries, *(Canary(name, not writer.failing, TWIN, path) for name in names))
    if not canaries:
        return None
    planted = _planted(call, path, path, reach, pair, beside=False)
    return _Made(FileEntry(path, entry.mode, pair.data), planted, canaries)


def _canaries(pair: Pair, writer: Writer, place: str, path: str) -> tuple[Canary, ...]:
    """A pair as grading knows it; the second holds as well where nothing is to fail."""
    holds = (True, not writer.failing)
    return tuple(Canary(name, ok, place, path) for name, ok in zip(pair.names, holds, strict=False))


def _planted(call: _Call, path: str, neighbour: str, reach: Reach, pair: Pair, *, beside: bool) -> Planted:
    return Planted(
        path=relpath(path, call.folder),
        neighbour=relpath(neighbour, call.folder),
        reach=reach,
        names=pair.names,
        group=pair.group,
        beside=beside,
    )
