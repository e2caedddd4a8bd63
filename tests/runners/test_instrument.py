"""Runners are asked for reports, and their commands do what they did before. The ones at hand really run."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hosted import outcomes, trial_on_host

from berbench.model.trial import OUT_DIR
from berbench.runners import instrument
from berbench.runners.kits import kit_files

FEW = {"test_x.py": "def test_a(): assert 1 == 1\n\n\ndef test_b(): assert 1 == 2\n"}
UNIT = """
import unittest

class T(unittest.TestCase):
    def test_a(self):
        '''Words that say nothing
        on two lines'''

    def test_b(self):
        '''Words that say nothing'''
        self.fail('no')
"""


@pytest.mark.parametrize(
    ("command", "last_line"),
    [
        ("go test ./a", "go test -json ./a"),
        ("cd a && go test -v ./b && go vet", "cd a && go test -json -v ./b && go vet"),
        ("go test -json ./a", "go test -json ./a"),
        ("npx jest a.js", "npx jest --json --outputFile=/berbench/out/jest-1.json a.js"),
        ("npx mocha 'a b.js'", "npx mocha --require /berbench/kit/mocha.cjs 'a b.js'"),
        ("node --import tsx --test a.js", "node $BERBENCH_NODE --import tsx --test a.js"),
        ("npx ava a.js", "npx ava --tap a.js"),
        ("pytest a.py", "pytest a.py"),
        ("python -m unittest a", "python -m unittest a"),
        ("cargo test", "cargo test"),
        ("mvn test", "mvn test"),
        (
            "npx vitest run a",
            "npx vitest run --reporter=default --reporter=json --outputFile.json=/berbench/out/vitest-1.json a",
        ),
    ],
)
def test_the_command_is_left_or_given_flags_right_after_its_runner(command: str, last_line: str) -> None:
    assert instrument(command).command.splitlines()[-1] == last_line


def test_the_users_own_words_are_never_requoted() -> None:
    command = "A=\"x y\"  npx jest  'it'\\''s' \"$B\"   # why"
    assert instrument(command).command.endswith("jest-1.json  'it'\\''s' \"$B\"   # why")


@pytest.mark.parametrize("evidence", ["none", "go-json", "tap", "junit:out/*.xml"])
def test_evidence_that_is_declared_changes_nothing_in_the_command(evidence: str) -> None:
    asked = instrument("pytest a.py", evidence)
    assert asked.command == "pytest a.py" and not asked.kit and not asked.env
    assert asked.collect == (("out/*.xml",) if evidence.startswith("junit") else ())


@pytest.mark.parametrize(
    ("command", "globs"),
    [
        ("mvn test", ("**/target/surefire-reports/TEST-*.xml", "**/target/failsafe-reports/TEST-*.xml")),
        ("./gradlew test", ("**/build/test-results/**/TEST-*.xml",)),
        ("pytest --junitxml=mine.xml a.py", ("mine.xml",)),
        ("pytest --junit-xml mine.xml a.py", ("mine.xml",)),
    ],
)
def test_reports_that_lie_in_the_work_tree_are_collected(command: str, globs: tuple[str, ...]) -> None:
    assert instrument(command).collect == globs


def test_a_shell_program_is_not_touched_and_still_heard() -> None:
    command = "for f in a b; do pytest $f || exit 1; done"
    asked = instrument(command)
    assert asked.command.endswith("\n" + command)
    assert asked.format == "summary" and asked.notes


@pytest.mark.parametrize(
    "command", ["pytest a", "python -m unittest a", "npx jest", "node --test", "make test", "npx mocha"]
)
def test_what_is_put_before_is_read_by_every_shell(command: str) -> None:
    before = instrument(command).command.removesuffix(command)
    assert subprocess.run(["sh", "-n"], input=before, text=True, check=False).returncode == 0


def test_kit_files_are_shipped() -> None:
    (entry,) = kit_files("mocha.cjs")
    assert entry.path == "mocha.cjs" and b"Mocha.prototype.run" in entry.data


def test_pytest_really_reports(tmp_path: Path) -> None:
    facts, evidence = trial_on_host(tmp_path, "python -m pytest -q test_x.py", FEW)
    assert facts.exit_code == 1
    assert outcomes(evidence) == {"test_x.py::test_a": "passed", "test_x.py::test_b": "failed"}
    assert {result.file for result in evidence.results} == {"test_x.py"}


def test_pytest_options_of_command_image_and_project_all_stay(tmp_path: Path) -> None:
    files = {**FEW, "pytest.ini": "[pytest]\naddopts = -v\n"}
    command = "PYTEST_ADDOPTS=\"-k 'test_a or test_b'\" python -m pytest --deselect test_x.py::test_b"
    facts, evidence = trial_on_host(tmp_path, command, files, env={"PYTEST_ADDOPTS": "--maxfail=1"})
    assert outcomes(evidence) == {"test_x.py::test_a": "passed"}
    assert b"1 deselected" in facts.log and b"test_x.py::test_a PASSED" in facts.log


def test_pytest_run_by_a_script_is_heard(tmp_path: Path) -> None:
    files = {**FEW, "run.sh": "set -e\npython -m pytest -q -k test_a\n"}
    _, evidence = trial_on_host(tmp_path, "sh run.sh", files)
    assert outcomes(evidence) == {"test_x.py::test_a": "passed"}


def test_a_chain_of_pytest_runs_leaves_a_report_each(tmp_path: Path) -> None:
    command = "python -m pytest -q -k test_a && X=1 python -m pytest -q -k test_b"
    facts, evidence = trial_on_host(tmp_path, command, FEW)
    assert facts.exit_code == 1
    assert outcomes(evidence) == {"test_x.py::test_a": "passed", "test_x.py::test_b": "failed"}


def test_V20_workers_that_print_over_each_other_lose_no_result(tmp_path: Path) -> None:
    body = (
        "import sys, pytest\n\n@pytest.mark.parametrize('n', range(20))\n"
        "def test_p(n): sys.__stdout__.write('F.' * n)\n"
    )
    _, evidence = trial_on_host(tmp_path, "python -m pytest -p xdist -s -n 2", {"test_p.py": body})
    assert outcomes(evidence) == {f"test_p.py::test_p[{n}]": "passed" for n in range(20)}


def test_V13_a_module_that_can_not_be_imported_is_a_collection_error(tmp_path: Path) -> None:
    facts, evidence = trial_on_host(
        tmp_path, "python -m pytest -q", {"sub/test_x.py": "from nowhere import it\n"}
    )
    assert facts.exit_code == 2
    assert outcomes(evidence) == {"sub/test_x.py": "error"}
    assert evidence.collection_failed and not evidence.none_ran


def test_V13_a_conftest_that_can_not_be_imported_is_one_too(tmp_path: Path) -> None:
    files = {**FEW, "conftest.py": "from nowhere import it\n"}
    facts, evidence = trial_on_host(tmp_path, "python -m pytest -q test_x.py", files)
    assert facts.exit_code == 4
    assert evidence.collection_failed and not evidence.none_ran


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("python -m pytest test_nope.py", 4),
        ("python -m pytest -k zzz", 5),
        ("python -m unittest discover -p 'no*.py'", 0),
    ],
)
def test_V14_no_test_ran_is_known_whatever_the_exit_code(tmp_path: Path, command: str, code: int) -> None:
    facts, evidence = trial_on_host(tmp_path, command, FEW)
    assert facts.exit_code in (code, 5)  # unittest ends with 5 from Python 3.12 on
    assert evidence.none_ran


def test_V05_a_configuration_that_only_lists_is_no_run(tmp_path: Path) -> None:
    files = {**FEW, "pytest.ini": "[pytest]\naddopts = --collect-only\n"}
    facts, evidence = trial_on_host(tmp_path, "python -m pytest", files)
    assert facts.exit_code == 0
    assert evidence.none_ran


@pytest.mark.parametrize(("order", "missing"), [("tryfirst", True), ("trylast", False)])
def test_V02_a_session_that_ends_itself_hides_its_failures_from_the_exit_code_alone(
    tmp_path: Path, order: str, missing: bool
) -> None:
    hook = f"import os, pytest\n\n@pytest.hookimpl({order}=True)\ndef pytest_sessionfinish(): os._exit(0)\n"
    facts, evidence = trial_on_host(tmp_path, "python -m pytest", {**FEW, "conftest.py": hook})
    assert facts.exit_code == 0
    assert evidence.report_missing == missing
    assert missing or outcomes(evidence)["test_x.py::test_b"] == "failed"


def test_V02_a_test_file_that_ends_the_process_leaves_no_report(tmp_path: Path) -> None:
    for runner, text in (
        ("pytest", "import os; os._exit(0)\n"),
        ("unittest", UNIT.replace("self.fail('no')", "__import__('os')._exit(0)")),
    ):
        facts, evidence = trial_on_host(
            tmp_path / runner, f"python -m {runner} test_x.py", {"test_x.py": text}
        )
        assert facts.exit_code == 0
        assert evidence.report_missing


def test_V01_a_conftest_that_turns_all_green_does_so_in_the_report_too(tmp_path: Path) -> None:
    """What is reported is what pytest was made to believe: protected paths, not reading, keep this out."""
    hook = (
        "import pytest\n\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport(item, call):\n"
        "    report = (yield).get_result()\n    report.outcome = 'passed'\n"
    )
    facts, evidence = trial_on_host(tmp_path, "python -m pytest", {**FEW, "conftest.py": hook})
    assert facts.exit_code == 0
    assert set(outcomes(evidence).values()) == {"passed"}


def test_V17_unittest_ids_are_names_and_never_docstrings(tmp_path: Path) -> None:
    _, evidence = trial_on_host(tmp_path, "python -m unittest -v tests.test_x", {"tests/test_x.py": UNIT})
    assert outcomes(evidence) == {"tests.test_x.T.test_a": "passed", "tests.test_x.T.test_b": "failed"}
    assert {result.file for result in evidence.results} == {"tests/test_x.py"}


def test_unittest_in_a_sub_folder_names_repository_paths(tmp_path: Path) -> None:
    _, evidence = trial_on_host(tmp_path, "cd sub && python -m unittest test_x", {"sub/test_x.py": UNIT})
    assert {result.file for result in evidence.results} == {"sub/test_x.py"}


def test_unittest_import_failures_are_collection_errors(tmp_path: Path) -> None:
    _, evidence = trial_on_host(tmp_path, "python -m unittest test_x", {"test_x.py": "import nowhere\n"})
    assert evidence.collection_failed
    assert outcomes(evidence) == {"unittest.loader._FailedTest.test_x": "error"}


def test_a_chain_of_unittest_runs_records_each(tmp_path: Path) -> None:
    files = {"test_x.py": UNIT.replace("self.fail('no')", "pass"), "test_y.py": UNIT}
    _, evidence = trial_on_host(tmp_path, "python -m unittest test_x && python -m unittest test_y", files)
    assert sorted(outcomes(evidence)) == [
        "test_x.T.test_a",
        "test_x.T.test_b",
        "test_y.T.test_a",
        "test_y.T.test_b",
    ]


def test_the_projects_own_sitecustomize_and_path_still_work(tmp_path: Path) -> None:
    text = UNIT.replace(
        "self.fail('no')", "import builtins, extra; self.assertEqual(builtins.seen + extra.x, 3)"
    )
    files = {
        "test_x.py": text,
        "lib/sitecustomize.py": "import builtins; builtins.seen = 1\n",
        "lib/extra.py": "x = 2\n",
    }
    facts, evidence = trial_on_host(tmp_path, "python -m unittest test_x", files, env={"PYTHONPATH": "lib"})
    assert facts.exit_code == 0, facts.log
    assert outcomes(evidence) == {"test_x.T.test_a": "passed", "test_x.T.test_b": "passed"}


def test_a_report_folder_that_can_not_be_written_fails_no_test(tmp_path: Path) -> None:
    gone = "import os, shutil; shutil.rmtree(os.environ['BERBENCH_OUT'])\n"
    text = gone + UNIT.replace("self.fail('no')", "pass")
    facts, evidence = trial_on_host(tmp_path, "python -m unittest test_x", {"test_x.py": text})
    assert facts.exit_code == 0, facts.log
    assert evidence.source == "summary"


def test_children_of_the_recorded_process_are_undisturbed(tmp_path: Path) -> None:
    probe = "import os, sys; print(os.environ.get('PYTHONPATH'), [p for p in sys.path if 'kit' in p])"
    ask = f'import subprocess, sys; seen = subprocess.check_output([sys.executable, "-c", """{probe}"""])'
    text = UNIT.replace("self.fail('no')", ask + "; self.assertEqual(seen, b'None []\\n')")
    facts, _ = trial_on_host(tmp_path, "python -m unittest test_x", {"test_x.py": text})
    assert facts.exit_code == 0, facts.log


def test_tests_of_test_tools_do_not_leak_their_inner_results(tmp_path: Path) -> None:
    inner = (
        "class Bad(unittest.TestCase):\n            def test_bad(self): self.fail('inner')\n"
        "        result = unittest.TestResult()\n        Bad('test_bad').run(result)\n"
        "        self.assertEqual(len(result.failures), 1)\n"
    )
    _, evidence = trial_on_host(
        tmp_path, "python -m unittest test_x", {"test_x.py": UNIT.replace("self.fail('no')", inner)}
    )
    assert outcomes(evidence) == {"test_x.T.test_a": "passed", "test_x.T.test_b": "passed"}


def test_a_result_class_that_forgets_its_parent_is_heard(tmp_path: Path) -> None:
    main = (
        "\n\nclass Result(unittest.TestResult):\n    def addFailure(self, test, err): self.bad = True\n"
        "\n    def wasSuccessful(self): return not getattr(self, 'bad', False)\n\n"
        "unittest.TextTestRunner  # a runner of the project's own\n"
        "suite = unittest.defaultTestLoader.loadTestsFromTestCase(T)\nresult = Result()\nsuite.run(result)\n"
        "raise SystemExit(not result.wasSuccessful())\n"
    )
    facts, evidence = trial_on_host(tmp_path, "python run.py", {"run.py": UNIT + main})
    assert facts.exit_code == 1
    assert outcomes(evidence) == {"__main__.T.test_a": "passed", "__main__.T.test_b": "failed"}


def test_V22_a_project_that_forces_colours_is_read_all_the_same(tmp_path: Path) -> None:
    files = {**FEW, "pytest.ini": "[pytest]\naddopts = --color=yes\n"}
    facts, evidence = trial_on_host(tmp_path, "python -m pytest", files, evidence="tap")
    assert b"\x1b[" in facts.log
    assert {o.value: n for o, n in evidence.counts} == {"passed": 1, "failed": 1}  # from the coloured summary


def test_V23_tests_that_print_stray_bytes_are_read(tmp_path: Path) -> None:
    text = UNIT.replace("self.fail('no')", "import os; os.write(1, b'\\xff\\xe2\\x82'); self.fail('\\udcff')")
    facts, evidence = trial_on_host(tmp_path, "python -m unittest test_x", {"test_x.py": text})
    assert b"\xff" in facts.log
    assert outcomes(evidence) == {"test_x.T.test_a": "passed", "test_x.T.test_b": "failed"}


@pytest.mark.parametrize(
    ("command", "asked"),
    [
        ("rspec spec/a_spec.rb", "rspec -f progress -f json -o {out}/rspec-1.json spec/a_spec.rb"),
        ("bundle exec rspec -f doc spec", "bundle exec rspec -f json -o {out}/rspec-1.json -f doc spec"),
        ("rspec --format=doc --out r.txt", "rspec -f json -o {out}/rspec-1.json --format=doc --out r.txt"),
        ("rspec -fd spec", "rspec -f json -o {out}/rspec-1.json -fd spec"),
        ("rspec --out r.txt spec", "rspec --out r.txt spec"),  # it would go to the last formatter named: ours
    ],
)
def test_rspec_is_asked_beside_the_formatter_that_prints(command: str, asked: str) -> None:
    wanted = instrument(command)
    assert wanted.command == asked.format(out=OUT_DIR)
    assert wanted.format == ("summary" if wanted.command == command else "rspec")
