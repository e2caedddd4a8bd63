"""The HTML file in a real browser: it opens with no complaint and no request, sorts, filters, and shows each cell."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import browser
from berbench.model.cells import CellResult
from berbench.reports import CellFiles, Planned, gather, report_page
from reportcells import (
    ERROR,
    FAIL,
    HOSTILE,
    PASS,
    PATCH,
    evidence,
    facts_of,
    hostile_report,
    many,
    result,
    run_of,
)

pytestmark = pytest.mark.browser

RESULTS = many(6, 2)


@pytest.fixture(scope="module")
def chromium() -> Iterator[browser.Page]:
    """One browser for all tests of this file."""
    with browser.page() as page:
        page.size(1400, 900)
        yield page


@pytest.fixture
def page(chromium: browser.Page) -> Iterator[browser.Page]:
    """What a page complains of, or asks for beside its own file, fails the test."""
    chromium.complaints.clear()
    chromium.requests.clear()
    chromium.media()
    yield chromium
    assert chromium.complaints == []
    assert {address.split("#")[0] for address in chromium.requests} <= {"about:blank", chromium.file}


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report as people will have one."""
    planned = Planned("f" * 64, RESULTS[0].task, "codex/gpt-5/medium", 9)
    made = gather(run_of(RESULTS, planned), RESULTS, facts_of(RESULTS))
    path = tmp_path_factory.mktemp("report") / "a report #1.html"
    path.write_text("".join(report_page(made, evidence)), encoding="utf-8")
    return path


def shown(page: browser.Page, table: str) -> list[str]:
    """The first cell of each row that is shown."""
    rows = f"[...document.querySelectorAll('#{table} tbody tr')].filter(row => row.checkVisibility())"
    found: list[str] = page.run(f"{rows}.map(row => row.children[0].textContent)")
    return found


def put(page: browser.Page, control: str, value: str) -> None:
    """Type into a field or choose in a select."""
    page.run(
        f"(() => {{ const it = document.getElementById({json.dumps(control)}); it.value = {json.dumps(value)};"
        " it.dispatchEvent(new Event('input', { bubbles: true })); })()"
    )


def column(page: browser.Page, table: str, number: int) -> list[str]:
    """The values by which a column sorts."""
    cells = f"[...document.querySelectorAll('#{table} tbody:first-of-type tr')].map(row => row.children[{number}])"
    found: list[str] = page.run(f"{cells}.map(cell => cell.dataset.v ?? cell.textContent)")
    return found


def click(page: browser.Page, selector: str) -> None:
    page.run(f"document.querySelector({json.dumps(selector)}).click()")


def text(page: browser.Page, selector: str) -> Any:
    return page.run(f"document.querySelector({json.dumps(selector)})?.innerText ?? null")


def test_it_opens_with_everything_on_one_page(page: browser.Page, report: Path) -> None:
    page.open(report)
    assert text(page, "h1") == "smoke"
    assert len(shown(page, "tasks")) == 6
    assert len(shown(page, "cells")) == len(RESULTS)
    assert "1 planned cell is not measured yet." in text(page, ".warnings")
    assert page.run("document.querySelectorAll('svg.plot circle').length") == 5  # one has no known cost
    assert page.run("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("width", [360, 800, 1900])
def test_no_page_is_wider_than_the_window(page: browser.Page, report: Path, width: int) -> None:
    page.size(width, 900)
    try:
        for anchor in ("", f"#cell-{RESULTS[0].key}"):
            page.open(report, anchor)
            assert page.run("document.documentElement.scrollWidth") <= width
    finally:
        page.size(1400, 900)


def test_columns_sort_both_ways_and_what_is_unknown_comes_last(page: browser.Page, report: Path) -> None:
    page.open(report)
    cost = "#cells thead th:nth-child(7)"
    for _ in range(2):
        click(page, f"{cost} button")
        values = column(page, "cells", 6)
        known = [float(value) for value in values if value]
        descending = page.run(f"document.querySelector('{cost}').getAttribute('aria-sort')") == "descending"
        assert known == sorted(known, reverse=descending)
        assert len(set(known)) > 10
        assert all(not value for value in values[len(known) :]) and len(known) < len(values)
    click(page, "#tasks thead th button")
    click(page, "#tasks thead th button")
    assert shown(page, "tasks") == sorted({cell.task for cell in RESULTS}, key=int, reverse=True)
    click(page, "#configurations thead th:nth-child(2) button")
    click(page, "#configurations thead th:nth-child(2) button")
    rates = [float(value) for value in column(page, "configurations", 1)]
    assert rates == sorted(rates) and len(rates) == 6  # controls stay where they are


def test_tasks_are_filtered_by_words_and_kind(page: browser.Page, report: Path) -> None:
    page.open(report)
    task = RESULTS[0].task
    put(page, "task-words", task)
    assert shown(page, "tasks") == [task]
    assert text(page, "#task-count") == "1 of 6 shown"
    put(page, "task-words", "no such task")
    assert shown(page, "tasks") == []
    put(page, "task-words", "")
    put(page, "task-kind", "error")
    assert task in shown(page, "tasks")
    put(page, "task-kind", "silent")
    silent = shown(page, "tasks")
    put(page, "task-kind", "telling")
    assert sorted(silent + shown(page, "tasks")) == sorted({cell.task for cell in RESULTS})


def test_configurations_can_be_taken_out_of_the_map(page: browser.Page, report: Path) -> None:
    page.open(report)
    seen = "[...document.querySelectorAll('#tasks tbody tr:first-child td.sq')].filter(c => c.checkVisibility()).length"
    assert page.run(seen) == 8
    click(page, "#task-columns input")
    assert page.run(seen) == 7


def test_cells_are_filtered_by_outcome_configuration_and_words(page: browser.Page, report: Path) -> None:
    page.open(report)
    put(page, "cell-outcome", "fail")
    put(page, "cell-config", "aider/local")
    expected = [c for c in RESULTS if c.outcome is FAIL and c.label == "aider/local"]
    assert len(shown(page, "cells")) == len(expected) > 0
    put(page, "cell-words", f"LOCAL {expected[0].task}")
    keys = [cell.key[:10] for cell in expected if cell.task == expected[0].task]
    assert sorted(shown(page, "cells")) == sorted(keys)


def test_a_sign_in_the_map_leads_to_its_cell_and_back(page: browser.Page, report: Path) -> None:
    page.open(report)
    link = page.run("document.querySelector('#tasks td.sq a').getAttribute('href')")
    click(page, "#tasks td.sq a")
    page.run("new Promise(done => setTimeout(done, 50))")
    assert page.run("location.hash") == link
    assert not page.run("document.getElementById('overview').checkVisibility()")
    assert text(page, "#cell h1")
    click(page, "#cell .crumbs a")
    page.run("new Promise(done => setTimeout(done, 50))")
    assert page.run("document.getElementById('overview').checkVisibility()")


def test_a_deep_link_opens_a_cells_page(page: browser.Page, report: Path) -> None:
    cell = next(one for one in RESULTS if one.outcome is FAIL and one.tool == "codex")
    page.open(report, f"#cell-{cell.key[:12]}")
    assert text(page, "#cell h1").split() == [cell.task, "fail"]
    assert f"{cell.label}, attempt {cell.attempt}" in text(page, "#cell")
    assert page.run("document.title") == f"{cell.task} · {cell.label}"
    for side in ("Candidate", "Reference"):
        assert side in text(page, "#part-patch")
    lines = "document.querySelectorAll('#part-patch .beside > div:{}-child pre span.{}').length"
    # `--- not a header` is a deleted line, and the second file's header is none.
    assert [page.run(lines.format("first", kind)) for kind in ("add", "del", "hunk")] == [4, 2, 2]
    assert [page.run(lines.format("last", kind)) for kind in ("add", "del", "hunk")] == [4, 2, 2]
    assert "test_apostrophe[don't]" in text(page, "#part-tests tbody tr")
    assert text(page, "#part-log pre").startswith("==== test session starts ====\ncollected 3 items")
    assert "grep -rn 'def words' src" in text(page, "#part-transcript")
    assert page.run("document.querySelectorAll('#part-transcript .turn.agent').length") == 3
    assert "should be 1." in text(page, "#part-prompt")
    click(page, "#part-transcript .toggle")
    assert text(page, "#part-transcript > pre").startswith('{"type": "system"')


def test_a_link_to_no_cell_shows_the_report(page: browser.Page, report: Path) -> None:
    page.open(report, "#cell-0000000000000000")
    assert page.run("document.getElementById('overview').checkVisibility()")


def test_every_cells_page_can_be_shown(page: browser.Page, report: Path) -> None:
    page.open(report, f"#cell-{RESULTS[0].key}")
    titles = page.run(
        "(async () => { const seen = []; for (const row of document.querySelectorAll('#cells tbody tr')) {"
        " location.hash = `#cell-${row.dataset.key}`; await new Promise(done => setTimeout(done, 5));"
        " seen.push(document.querySelector('#cell h1').textContent); } return seen; })()"
    )
    assert len(titles) == len(RESULTS) and all(titles)


def test_hostile_texts_are_text(page: browser.Page, tmp_path: Path) -> None:
    made, files = hostile_report()
    path = tmp_path / "hostile.html"
    path.write_text("".join(report_page(made, lambda cell: files[cell.key])), encoding="utf-8")
    for key in files:
        page.open(path, f"#cell-{key}")
        assert page.run("document.querySelectorAll('img, iframe, form, #cell script').length") == 0
        for part in ("patch", "log", "transcript", "prompt", "tests", "final", "remarks"):
            told = text(page, f"#part-{part}")
            assert "</script><script>alert(1)</script><img src=x onerror=alert(1)>" in told, part
            assert not set(told) & {"\x1b", "\x00", "\u202e"}
        assert "\\u202e\u2400" in text(page, "#part-log")
        assert "[31m" not in text(page, "#part-log")  # as a terminal would have taken it
    assert HOSTILE[:9] in text(page, "#cell h1") or text(page, "#cell h1").startswith("2")


def test_what_escaping_would_miss_neither_runs_nor_calls_home(
    page: browser.Page, report: Path, tmp_path: Path
) -> None:
    path = tmp_path / "broken.html"
    with socket.create_server(("127.0.0.1", 0)) as server:
        image = f"<img src='http://127.0.0.1:{server.getsockname()[1]}/x'>"
        evil = f"<main>{image}<script>document.title = 'owned'</script>"
        path.write_text(report.read_text(encoding="utf-8").replace("<main>", evil), encoding="utf-8")
        page.open(path)
        assert page.run("document.title") == "smoke – berbench"
        server.setblocking(False)
        with pytest.raises(BlockingIOError):  # nobody came
            server.accept()
    assert len([said for said in page.complaints if "Content Security Policy" in said]) == 2
    page.complaints.clear()
    page.requests.clear()  # the blocked one is among them


CAPTURES = Path(__file__).parents[1] / "telemetry" / "captures"


@pytest.mark.parametrize("tool", ["claude-code", "codex", "opencode"])
def test_what_real_agents_print_is_shown_as_turns(page: browser.Page, tmp_path: Path, tool: str) -> None:
    printed = (CAPTURES / f"{tool}.edit").read_bytes()
    cells = [result("1", tool, FAIL)]
    path = tmp_path / "turns.html"
    made = gather(run_of(cells), cells, facts_of(cells))
    path.write_text("".join(report_page(made, lambda _: CellFiles(printed))), encoding="utf-8")
    page.open(path, f"#cell-{cells[0].key}")
    told = text(page, "#part-transcript > div")
    assert "hello from the model" in told and "The greeting is written." in told
    assert "cat greeting.txt" in told
    assert '"sessionID"' not in told and "session_id" not in told
    assert page.run("document.querySelectorAll('#part-transcript .turn.agent').length") >= 3
    click(page, "#part-transcript .toggle")
    assert text(page, "#part-transcript > pre").split() == printed.decode().split()  # nothing is lost


def test_lines_that_are_nothing_known_are_shown_as_they_are(page: browser.Page, tmp_path: Path) -> None:
    odd = [
        b'{"type":"assistant","message":{"content":[null, 7, {"type":"text"}]}}',
        b'{"part":null}',
        b"{broken",
    ]
    odd += [
        b'{"item":[]}',
        b'{"type":"item.completed","item":{}}',
        b'{"content":[[]]}',
        b"null",
        b"[1]",
        b'{"a":1}',
    ]
    odd += [b'{"message":{"content":{"a":"deep"}}}', b'{"part":{"tool":"x","state":7}}', b'{"result":"last"}']
    cells = [result("1", "x", FAIL)]
    path = tmp_path / "odd.html"
    made = gather(run_of(cells), cells, facts_of(cells))
    path.write_text("".join(report_page(made, lambda _: CellFiles(b"\n".join(odd)))), encoding="utf-8")
    page.open(path, f"#cell-{cells[0].key}")
    told = text(page, "#part-transcript > div")
    for part in ("{broken", '{"a":1}', "null", "[1]", "deep", "uses x", "last", '{"part":null}'):
        assert part in told, part


def test_what_is_not_there_is_said(page: browser.Page, tmp_path: Path) -> None:
    cells = [result("1", "a", ERROR, error="The model's API answered 500."), result("1", "nop", FAIL)]
    files = {cells[0].key: CellFiles(), cells[1].key: CellFiles(candidate=b"", reference=PATCH)}
    path = tmp_path / "bare.html"
    made = gather(run_of(cells), cells, facts_of(cells))
    path.write_text("".join(report_page(made, lambda cell: files[cell.key])), encoding="utf-8")
    page.open(path, f"#cell-{cells[0].key}")
    assert "The model's API answered 500." in text(page, "#cell .reasons")
    assert "No candidate could be taken." in text(page, "#part-patch")
    assert "No per-test results." in text(page, "#part-tests")
    page.open(path, f"#cell-{cells[1].key}")
    assert "Empty: nothing was changed." in text(page, "#part-patch")


PAINTED = ["body", "#tasks td.s0", "#tasks td.s4", "#tasks td.s2, #tasks td.s1, #tasks td.s3"]
PAINTED += [".warnings p", "thead th", ".pill.fail", ".pill.pass"]
COLOURS = """name => {
    let it = document.querySelector(name), back;
    const ink = getComputedStyle(it).color;
    do {
        back = getComputedStyle(it).backgroundColor;
        it = it.parentElement;
    } while (it && back === "rgba(0, 0, 0, 0)");
    return [name, ink, back];
}"""


def test_texts_are_dark_on_light_and_light_on_dark(page: browser.Page, report: Path) -> None:
    for scheme in ("light", "dark"):
        page.media(scheme=scheme)
        page.open(report)
        pairs = page.run(f"{json.dumps(PAINTED)}.map({COLOURS})")
        for name, ink, back in pairs:
            assert contrast(ink, back) >= 4.5, (scheme, name, ink, back)


def contrast(one: str, other: str) -> float:
    """WCAG 2's ratio of two colours as browsers write them."""

    def light(colour: str) -> float:
        parts = [int(part) / 255 for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
        r, g, b = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return 0.2126 * r + 0.7152 * g + 0.0722 * b

    brighter, darker = sorted((light(one), light(other)), reverse=True)
    return (brighter + 0.05) / (darker + 0.05)


def test_on_paper_everything_is_laid_open(page: browser.Page, report: Path) -> None:
    page.media(kind="print")
    page.size(1050, 900)
    try:
        page.open(report)
        assert not page.run("document.querySelector('.controls').checkVisibility()")
        cut = "[...document.querySelectorAll('.scroll')].filter(it => it.scrollHeight > it.clientHeight + 1"
        assert page.run(f"{cut} || it.scrollWidth > it.clientWidth + 1).length") == 0
    finally:
        page.size(1400, 900)


def test_a_thousand_cells_open_and_sort_at_once(page: browser.Page, tmp_path: Path) -> None:
    results: list[CellResult] = many(125, 1)
    made = gather(run_of(results), results, facts_of(results))
    path = tmp_path / "large.html"
    with path.open("w", encoding="utf-8") as file:
        file.writelines(report_page(made, lambda cell: evidence(cell, size=4000)))
    page.open(path)
    assert len(shown(page, "cells")) == 1000
    put(page, "cell-outcome", "pass")
    assert len(shown(page, "cells")) == sum(cell.outcome is PASS for cell in results)
    page.open(path, f"#cell-{results[-1].key}")
    assert results[-1].task in text(page, "#cell h1")
