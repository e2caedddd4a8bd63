"""What the pages say is there: links lead somewhere, and every command line in them is one that berbench takes."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.core import TyperGroup
from typer.exceptions import TyperException
from typer.main import get_command

from berbench.cli.app import app

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
SOURCES = sorted((ROOT / "berbench").rglob("*.py"))
COMMANDS = ROOT / "docs" / "reference" / "commands.md"
PROGRAM = get_command(app)
ALONE = [option for param in PROGRAM.params if getattr(param, "is_flag", False) for option in param.opts]

_FENCE = re.compile(r"^( *)```[^\n]*\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`(berbench\s+[a-z-][^`]*)`")
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ +(.+)$", re.MULTILINE)
_OPTION = re.compile(r"^- `(--[a-z-]+)[^`]*`(?:, `(-[a-z])[^`]*`)?", re.MULTILINE)


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _fenced(text: str) -> Iterator[str]:
    """The command lines of berbench in fences, without prompts, comments and what follows a pipe or a redirect."""
    for match in _FENCE.finditer(text):
        for line in match[2].splitlines():
            command = line.strip().removeprefix("$ ").removeprefix(".venv/bin/")
            if command.startswith("berbench "):
                yield command


def _inline(text: str) -> Iterator[str]:
    yield from (" ".join(match[1].split()) for match in _INLINE.finditer(_FENCE.sub("", text)))


def _complaint(line: str) -> str:
    """What the program's own parser says against a command line, or ""."""
    words = shlex.split(re.split(r"\s[|>#]|\s&&", line)[0])[1:]
    if len(words) == 1 and words[0] in ALONE:  # they act as soon as they are parsed
        return ""
    command, parent = PROGRAM, None
    try:
        while isinstance(command, TyperGroup):
            parent = command.make_context(command.name or "berbench", words, parent=parent)
            _, found, words = command.resolve_command(parent, [*parent._protected_args, *parent.args])
            if found is None:
                return "no such command"
            command = found
        command.make_context(command.name, words, parent=parent)
    except TyperException as error:
        return error.format_message()
    return ""


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_command_lines_are_ones_that_berbench_takes(page: Path) -> None:
    wrong = [f"{line}: {why}" for line in _fenced(_read(page)) if (why := _complaint(line))]
    # In running text a verb may stand without what it must be given.
    wrong += [
        f"{line}: {why}"
        for line in _inline(_read(page))
        if (why := _complaint(line)) and not why.startswith("Missing argument")
    ]
    assert wrong == []


def test_remedies_name_commands_that_there_are() -> None:
    wrong = []
    seen = 0
    for path in SOURCES:
        for line in _inline(_read(path)):
            seen += 1
            why = _complaint(re.sub(r"\{[^}]*\}|<[^>]*>", "1", line))
            if why and not why.startswith("Missing argument"):
                wrong.append(f"{_name(path)}: {line}: {why}")
    assert seen > 10
    assert wrong == []


def test_the_parser_that_checks_the_pages_refuses_what_is_wrong() -> None:
    assert _complaint("berbench task validate 1 --narrow  # a comment") == ""
    assert _complaint("berbench -C here task list --json > tasks.json") == ""
    for line in (
        "berbench task prove 1",
        "berbench tasks list",
        "berbench task scan --no-such",
        "berbench task lint 1 2",
        "berbench task scan --limit 900",
        "berbench doctor 13964",
        "berbench task list --quiet | head",
    ):
        assert _complaint(line), line


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_links_lead_to_files_and_headings(page: Path) -> None:
    text = _FENCE.sub("", _read(page))
    broken = []
    for target in _LINK.findall(text):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        path = (page.parent / name).resolve() if name else page
        if not path.exists() or (anchor and anchor not in _anchors(path)):
            broken.append(target)
    assert broken == []


def _anchors(page: Path) -> set[str]:
    """The ids that forges give to a page's headings."""
    headings = _HEADING.findall(_FENCE.sub("", _read(page)))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_page_is_reached_from_the_index() -> None:
    reached, waiting = set(), [ROOT / "docs" / "index.md"]
    while waiting:
        page = waiting.pop()
        if page in reached:
            continue
        reached.add(page)
        links = (link.partition("#")[0] for link in _LINK.findall(_read(page)))
        waiting += [
            (page.parent / link).resolve() for link in links if link.endswith(".md") and "://" not in link
        ]
    assert [_name(page) for page in sorted((ROOT / "docs").rglob("*.md")) if page not in reached] == []


def test_options_of_the_whole_program_are_documented() -> None:
    before_the_verbs = _read(COMMANDS).partition("\n## ")[0]
    options = [option for param in PROGRAM.params for option in param.opts]
    assert len(options) > 3
    described = set(re.findall(r"-{1,2}[a-zA-Z][a-z-]*", before_the_verbs))
    assert [option for option in options if option not in described] == []


def test_every_option_described_is_one_of_its_verb() -> None:
    sections = _read(COMMANDS).split("\n## ")[1:]
    wrong, seen = [], 0
    for section in sections:
        verb = section.split("`")[1]
        options = {option for param in _command(verb).params for option in param.opts}
        known = {option for option in options if option.startswith("-")}
        described = {option for pair in _OPTION.findall(section) for option in pair if option}
        seen += len(described)
        wrong += [f"{verb} {option}" for option in sorted(described - known)]
        # test_house.py looks for the long names; short ones stand beside them.
        wrong += [
            f"{verb} {option}" for option in sorted(known) if option[1] != "-" and option not in described
        ]
    assert seen > 20
    assert wrong == []


def _command(verb: str) -> Any:
    command = PROGRAM
    for word in verb.split()[1:]:
        assert isinstance(command, TyperGroup), verb
        command = command.commands[word]
    return command
