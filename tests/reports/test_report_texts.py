"""How numbers are written, and the forms without a browser: JSON, Markdown, and what stands in the HTML file."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from berbench.model.cells import CellResult
from berbench.reports import (
    CellFiles,
    Planned,
    Skipped,
    TaskFacts,
    TestLine,
    cell_document,
    cell_markdown,
    gather,
    report_document,
    report_markdown,
    report_page,
    words,
)
from berbench.reports.embed import LEAST, MOST, WHOLE, allowance, cell_data, cut, script
from berbench.reports.markdown import cell_facts
from berbench.reports.marks import letters, text
from berbench.reports.plot import plot
from berbench.stats import Amount, Interval
from reportcells import ERROR, FAIL, HOSTILE, PASS, evidence, facts_of, hostile_report, many, result, run_of


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (words.share(None), "–"),
        (words.share(0.0), "0 %"),
        (words.share(0.004), "<1 %"),
        (words.share(0.996), ">99 %"),
        (words.share(1.0), "100 %"),
        (words.share(2 / 3), "67 %"),
        (words.interval(None), "–"),
        (words.interval(Interval(0.123, 0.878)), "12–88 %"),
        (words.points(None), "–"),
        (words.points(0.001), "±0"),
        (words.points(-0.25), "−25"),
        (words.points(0.25), "+25"),
        (words.dollars(0), "$0.00"),
        (words.dollars(0.00001), "<$0.0001"),
        (words.dollars(0.0123), "$0.012"),
        (words.dollars(0.5), "$0.50"),
        (words.dollars(1234.5), "$1,234.50"),
        (words.seconds(3.14), "3.1 s"),
        (words.seconds(75), "75 s"),
        (words.seconds(300), "5.0 min"),
        (words.seconds(9000), "2.5 h"),
        (words.number(12), "12"),
        (words.number(44.5), "44.5"),
        (words.number(9_986.5), "9986"),
        (words.number(12_345), "12.3k"),
        (words.number(999_960), "1.00M"),
        (words.total(Amount(), words.dollars), "–"),
        (words.total(Amount(0, 3), words.dollars), "unknown"),
        (words.total(Amount(2, 1, 4.0, 2.0), words.dollars), "≥ $4.00"),
        (words.total(Amount(2, 0, 4.0, 2.0), words.dollars), "$4.00"),
        (words.middle(Amount(0, 3), words.dollars), "unknown"),
        (words.middle(Amount(2, 1, 4.0, 2.0), words.dollars), "$2.00 (2 of 3)"),
        (words.tokens_of((None, None)), "unknown"),
        (words.tokens_of((12_000, None)), "12.0k / unknown"),
        (letters(0), "A"),
        (letters(25), "Z"),
        (letters(26), "AA"),
        (letters(701), "ZZ"),
        (letters(702), "AAA"),
    ],
)
def test_how_numbers_are_written(value: str, written: str) -> None:
    assert value == written


def test_the_document_has_every_cell_and_null_for_what_is_unknown() -> None:
    results = many(6, 2)
    report = gather(run_of(results, Planned("f" * 64, "1", "nop", 1)), results, facts_of(results))
    document = json.loads(json.dumps(report_document(report)))
    assert document["schema"] == "berbench.report/1"
    assert len(document["cells"]) == len(results)
    assert document["planned"] == len(results) + 1
    by_label = {row["configuration"]: row for row in document["configurations"]}
    assert by_label["aider/local"]["cost_usd"]["total"] is None
    assert by_label["aider/local"]["cost_usd"]["unknown"] > 0
    assert by_label["oracle"]["control"] and by_label["oracle"]["pass_rate"]["value"] == 1.0
    low, high = by_label["codex/gpt-5/medium"]["pass_rate"]["interval_95"]
    assert low <= by_label["codex/gpt-5/medium"]["pass_rate"]["value"] <= high
    assert {cell["cost_usd"] for cell in document["cells"] if cell["configuration"] == "aider/local"} == {
        None
    }
    assert len(document["comparisons"]) == 6 * 5 / 2


def test_a_cells_document_holds_its_evidence() -> None:
    cell = result("1", outcome=FAIL)
    document = json.loads(json.dumps(cell_document(cell, evidence(cell))))
    assert document["schema"] == "berbench.cell-report/1"
    assert document["candidate"] == document["reference"] != ""
    assert [test["outcome"] for test in document["tests"]] == ["passed", "failed", "error"]
    assert document["log"].startswith("==== test session starts ====\n")
    nothing = cell_document(cell, CellFiles())
    assert nothing["candidate"] is None and nothing["reference"] is None


def test_markdown_tables_are_whole_whatever_names_hold() -> None:
    report, files = hostile_report()
    made = "".join(report_markdown(report))
    made += "".join(cell_markdown(report.tasks[0].squares["b"].cells[0], CellFiles()))
    made.encode()  # no lone surrogate
    assert "\x1b" not in made and "\x00" not in made and "\u202e" not in made
    for table in re.findall(r"(?:^\|.*\n)+", made, re.MULTILINE):
        rows = table.splitlines()
        assert len({len(re.findall(r"(?<!\\)\|", row)) for row in rows}) == 1, table
    outside = re.sub(r"(`+).*?\1", "", made, flags=re.DOTALL)
    assert "<" not in outside and "](" not in outside
    assert files


def test_every_form_says_what_a_task_is_about() -> None:
    results = [result("7", "a"), result("7", "oracle")]
    about = "Keep don't_split <i>whole</i>"
    report = gather(run_of(results), results, {"7": TaskFacts("7", description=about)})
    (task,) = report_document(report)["tasks"]
    assert task["description"] == about
    assert "don't_split &#60;i&#62;whole" in "".join(report_markdown(report))
    page = "".join(report_page(report, lambda cell: CellFiles()))
    seen = "Keep don&#x27;t_split &lt;i&gt;whole&lt;/i&gt;"
    assert page.count(f'<span class="about">{seen}</span>') == 1
    assert page.count('"about":"Keep don') == 2


def test_a_control_lacks_no_tokens_and_a_run_of_controls_no_cost() -> None:
    control, other = result("7", "nop"), result("7", "aider")
    assert dict(cell_facts(control))["tokens in / out"] == dict(cell_facts(control))["cost"] == "–"
    assert dict(cell_facts(other))["tokens in / out"] == dict(cell_facts(other))["cost"] == "unknown"
    for results, told in (([control], False), ([control, other], True)):
        report = gather(run_of(results), results, {})
        assert ("ost of all cells" in "".join(report_markdown(report))) is told
        page = "".join(report_page(report, lambda cell: CellFiles()))
        assert ("cost of all cells" in page) is told


def test_markdown_keeps_names_legible_and_lists_apart() -> None:
    skipped = (Skipped("9", "stale: its snake_case_name changed, and _this_ too"),)
    text = "".join(report_markdown(gather(run_of([result()], skipped=skipped), [result()], {})))
    assert "snake_case_name changed, and &#95;this&#95; too" in text
    assert "\n\n## How to read this\n\n- A pass rate" in text  # else both lists would be one


@pytest.mark.parametrize(
    ("reason", "changed", "told"),
    [
        ("stale: changed since the proof: prompt", ("prompt",), "stale: changed since the proof: prompt"),
        ("stale", ("prompt", "limits"), "stale (prompt, limits)"),
        ("unvalidated", (), "unvalidated"),
    ],
)
def test_a_changed_input_is_named_once(reason: str, changed: tuple[str, ...], told: str) -> None:
    assert words.skipped(Skipped("9", reason, changed)) == told


def test_what_was_never_measured_is_compared_with_nothing() -> None:
    results = [result("7", "a"), result("7", "b"), result("7", "c", ERROR)]
    report = gather(run_of(results), results, {})
    assert len(report.comparisons) == 3  # the document has them all
    assert "different tasks" not in " ".join(report.warnings)
    markdown = "".join(report_markdown(report)).partition("## Differences")[2].partition("##")[0]
    page = "".join(report_page(report, lambda cell: CellFiles()))
    pairs = page.partition('id="pairs"')[2].partition("</table>")[0]
    for text_of in (markdown, pairs):
        assert ">b<" in text_of or "`b`" in text_of
        assert ">c<" not in text_of and "`c`" not in text_of


def test_one_task_is_not_some_of_them() -> None:
    results = [result("7", "a"), result("7", "b")]
    report = gather(run_of(results), results, {})
    assert words.telling(report.tasks) == "1 task, without information"


def test_planted_tests_are_explained_where_a_log_is_shown() -> None:
    with_log = "".join(cell_markdown(result(), CellFiles(log=b"3 failed")))
    assert words.PLANTED in with_log.partition("## Log")[2]
    assert words.PLANTED not in "".join(cell_markdown(result(), CellFiles(transcript=b"3 failed")))


def test_quoted_texts_end_where_their_fence_does() -> None:
    cell = result("1", outcome=FAIL)
    tricky = b"a\n```\n</details>\n````\nb\n"
    made = "".join(cell_markdown(cell, CellFiles(candidate=tricky, log=b"x\n" * 500)))
    assert "`````diff\na\n```\n</details>\n````\nb\n`````\n" in made
    assert "(the last 200 of 500 lines)" in made


def test_markdown_shows_the_best_ones_pairs_where_there_are_too_many() -> None:
    labels = [f"aider/m{number}" for number in range(8)]
    results = [result("1", label, PASS if label == "aider/m3" else FAIL) for label in labels]
    report = gather(run_of(results), results, facts_of(results))
    made = "".join(report_markdown(report))
    assert "21 more pairs are in the JSON and HTML forms." in made
    rows = re.findall(r"^\| `aider/m\d` \| `aider/m\d` \|", made, re.MULTILINE)
    assert len(rows) == 7 and all("m3" in row for row in rows)


class Reader(HTMLParser):
    """What a browser would make of a file, as far as tags go."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.data: dict[str, str] = {}
        self._in = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag in ("script", "style"):
            self._in = dict(attrs).get("id") or tag

    def handle_endtag(self, tag: str) -> None:
        self._in = ""

    def handle_data(self, data: str) -> None:
        if self._in:
            self.data[self._in] = self.data.get(self._in, "") + data


def read_page(made: str) -> Reader:
    reader = Reader()
    reader.feed(made)
    reader.close()
    return reader


def test_nothing_from_outside_becomes_a_tag_or_a_handler() -> None:
    report, files = hostile_report()
    made = "".join(report_page(report, lambda cell: files[cell.key]))
    made.encode()
    page = read_page(made)
    assert not [tag for tag, _ in page.tags if tag in ("img", "iframe", "object", "embed", "form", "base")]
    assert not [name for _, attrs in page.tags for name in attrs if name.startswith("on")]
    assert sum(tag == "script" for tag, _ in page.tags) == 3 + 2 + 1  # cells, tasks, and the file's own
    assert "\x1b" not in made and "\x00" not in made and "\u202e" not in made
    cell = json.loads(page.data["d0"])
    assert HOSTILE[:20] in cell["transcript"]
    assert cell["transcript"].endswith("��<!-- <script>")
    # Every address leads into the file.
    addresses = [attrs[name] for _, attrs in page.tags for name in ("href", "src") if name in attrs]
    assert addresses and all(str(address).startswith(("#", "data:,")) for address in addresses)


def test_the_file_lets_in_its_own_style_and_script_alone() -> None:
    results = [result()]
    made = "".join(report_page(gather(run_of(results), results, {}), evidence))
    page = read_page(made)
    policy = next(str(attrs["content"]) for tag, attrs in page.tags if "http-equiv" in attrs)
    import base64
    import hashlib

    for kind in ("style", "script"):
        digest = base64.b64encode(hashlib.sha256(page.data[kind].encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy and "unsafe" not in policy
    assert not [attrs for _, attrs in page.tags if "style" in attrs]  # the policy would not let them in
    assert "</style" not in page.data["style"] and "http" not in page.data["script"]


def test_a_tasks_reference_is_in_the_file_once() -> None:
    results = many(3, 2)
    made = "".join(report_page(gather(run_of(results), results, facts_of(results)), evidence))
    page = read_page(made)
    assert [name for name in page.data if re.fullmatch(r"t\d+", name)] == ["t0", "t1", "t2"]
    assert len([name for name in page.data if re.fullmatch(r"d\d+", name)]) == len(results)


def test_evidence_is_read_one_cell_at_a_time() -> None:
    results = many(4, 1)
    seen: list[str] = []

    def read(cell: CellResult) -> CellFiles:
        seen.append(cell.key)
        return evidence(cell)

    pieces = report_page(gather(run_of(results), results, facts_of(results)), read)
    while not seen:
        next(pieces)
    next(pieces)
    next(pieces)
    assert len(seen) <= 2
    list(pieces)
    assert sorted(seen) == sorted(cell.key for cell in results)


def test_long_texts_are_cut_in_the_middle_and_it_is_said() -> None:
    data = b"".join(b"line %d\n" % number for number in range(10_000))
    kept, note = cut(data, 1000)
    assert len(kept) < 1100
    assert kept.startswith("line 0\nline 1\n") and kept.endswith("line 9999\n")
    (told,) = re.findall(r"\[… ([\d,]+) bytes are left out here …\]", kept)
    assert int(told.replace(",", "")) == len(data) - len(
        kept.replace(f"\n[… {told} bytes are left out here …]\n", "")
    )
    assert f"{told} of {len(data):,} bytes" in note
    assert cut(data, len(data)) == (data.decode(), "")
    assert len(cut(b"x" * 5000, 100)[0]) < 200  # no line ends to cut at


def test_a_cells_data_stays_within_its_allowance() -> None:
    big = b"\xff\x00<&>\x1b[0m \n" * 100_000
    files = CellFiles(big, big, big, tuple(TestLine(f"t::{n}" * 40, "passed") for n in range(9000)), big, big)
    allowed = 40_000
    data = json.loads(cell_data(result(), files, task=0, about="", allowed=allowed))
    kept = len(data["transcript"]) + len(data["candidate"]) + len(data["log"])
    assert kept + sum(len(test[0]) for test in data["tests"]) < 1.35 * allowed
    assert set(data["cut"]) == {"transcript", "candidate", "log", "tests"}


def test_what_did_not_pass_stands_before_what_a_long_list_leaves_out() -> None:
    tests = (*(TestLine(f"t::{n}", "passed") for n in range(5000)), TestLine("t::bad", "failed"))
    data = json.loads(cell_data(result(), CellFiles(tests=tests), task=0, about="", allowed=20_000))
    assert data["tests"][0][:2] == ["t::bad", "failed"]
    assert data["cut"]["tests"].endswith("of 5,001 tests are shown.")


def test_the_allowance_falls_with_the_number_of_cells() -> None:
    assert allowance(0) == allowance(1) == MOST
    assert allowance(1000) == WHOLE // 1000
    assert allowance(10**6) == LEAST


def test_data_in_a_script_can_not_end_it() -> None:
    made = script({"a": "</script><!--<script>&]]>\u2028\udce9"})
    assert not set(made) & set("<>&") and made.isascii()
    assert json.loads(made) == {"a": "</script><!--<script>&]]>\u2028\udce9"}


def test_text_is_legible_and_escaped() -> None:
    assert text("a<b>\"'&\x1b\n\udce9") == "a&lt;b&gt;&quot;&#x27;&amp;\\x1b\\n\\udce9"


def test_the_figure_draws_what_has_a_cost_and_moves_apart_what_would_overlap() -> None:
    results = [
        *(result("1", label, PASS, cost=0.2) for label in ("aider/a", "aider/b")),
        *(result("1", "codex/c", FAIL, cost=0.0), result("1", "codex/d", FAIL)),
    ]
    report = gather(run_of(results), results, facts_of(results))
    name = {row.label: letters(number) for number, row in enumerate(report.configurations)}
    drawn = "".join(plot(report.contestants, name))
    places = re.findall(r'<circle class="dot" cx="([\d.]+)" cy="([\d.]+)"', drawn)
    assert len(places) == len(set(places)) == 3
    assert "codex/d" not in drawn
    assert list(plot([], {})) == []


def test_costs_of_nothing_at_all_can_be_drawn() -> None:
    results = [result("1", "aider/a", PASS, cost=0.0)]
    report = gather(run_of(results), results, facts_of(results))
    assert "<circle" in "".join(plot(report.contestants, {"aider/a": "A"}))


def test_a_report_of_nothing_has_all_forms() -> None:
    report = gather(replace(run_of([]), experiment=""), [], {})
    assert report_document(report)["cells"] == []
    assert "# Report" in "".join(report_markdown(report))
    assert "<h1>Report</h1>" in "".join(report_page(report, evidence))


ANYTHING = st.text(st.characters(codec=None, exclude_categories=[]), max_size=30)


@settings(max_examples=60)
@example("\ud800", "", b"\xff")  # half a character, as JSON can hold it
@given(ANYTHING, ANYTHING, st.binary(max_size=60))
def test_whatever_names_and_texts_hold_the_forms_keep_their_shape(name: str, label: str, data: bytes) -> None:
    def made_of(task: str, configuration: str, raw: bytes) -> tuple[list[str], int, int]:
        cells = [
            result(task, f"x{configuration}", FAIL, reasons=(task,)),
            result("0", "y", ERROR, error=task),
        ]
        files = CellFiles(raw, raw, raw, (TestLine(task, "failed", task),), raw, raw, task, (task,), task)
        report = gather(run_of(cells, id=task, experiment=f"x{task}"), cells, facts_of(cells))
        page = "".join(report_page(report, lambda _: files))
        page.encode()
        markdown = "".join(report_markdown(report)) + "".join(cell_markdown(cells[0], files))
        markdown.encode()
        json.dumps([report_document(report), cell_document(cells[0], files)]).encode("ascii")
        whole = read_page(page)
        assert all(json.loads(text) for id, text in whole.data.items() if re.fullmatch(r"[dt]\d+", id))
        headings = len(re.findall(r"^#+ ", re.sub(r"(?ms)^(`{3,})\w+\n.*?^\1$", "", markdown), re.MULTILINE))
        return [tag for tag, _ in whole.tags], headings, len(report.tasks)

    tags, headings, tasks = made_of(name, label, data or b"x")
    plain_tags, plain_headings, plain_tasks = made_of("1", "z", b"x")
    if tasks == plain_tasks:  # the name may be `0`
        assert sorted(tags) == sorted(plain_tags)
        assert headings == plain_headings
