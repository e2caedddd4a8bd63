from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from berbench.errors import StoreError, UsageError
from berbench.model.trial import Evidence, Facts, ReportFile, Verdict, VerdictName
from berbench.store import DataDir, Last, read_text_file
from taskfiles import Trialed

AT = datetime(2024, 5, 1, 12, 0, 0, 5, UTC)
VERDICT = Verdict(
    VerdictName.REFERENCE_FAILS, "why", "do this", ("a", "\udce9"), fail_to_pass=("t::a",), noise=("t::b",)
)
PROVEN = Verdict(VerdictName.VALIDATED, "it holds")
FACTS = Facts(
    "base",
    1,
    setup_failed="make",
    setup_exit_code=2,
    timed_out=True,
    timed_out_in="setup",
    out_of_memory=True,
    seconds=1.25,
    log=b"caf\xe9 \x00\r\n\xff",
    log_bytes=9,
    log_truncated=True,
    reports=(ReportFile("collected/\udce9.xml", b"\xe9<\r\n"), ReportFile("b", b"", truncated=True)),
    image="sha256:1",
    engine="Docker",
    started_at=AT,
    installed=("a==1", "b==2"),
)


@pytest.fixture
def data(tmp_path: Path) -> DataDir:
    return DataDir.of(tmp_path / "My Repo", "", {"BERBENCH_DATA_DIR": str(tmp_path / "data")})


def trialed(facts: Facts) -> Trialed:
    return Trialed(facts, Evidence())


def test_P13_facts_come_back_byte_for_byte(data: DataDir) -> None:
    reference = replace(FACTS, trial="reference", exit_code=None, started_at=None, reports=())
    trials = {"base": trialed(FACTS), "reference": trialed(reference)}
    run = data.save_validation("7", AT, VERDICT, trials, "step 1\n\udcff")
    assert data.load_facts(run, "base") == FACTS
    assert data.load_facts(run, "reference") == reference
    assert data.load_verdict(run) == VERDICT
    assert (run / "base" / "output.log").read_bytes() == FACTS.log
    assert (run / "build.log").read_bytes() == b"step 1\n\xff"


def test_only_the_last_records_of_a_task_stay(data: DataDir) -> None:
    saved = [data.save_validation("7", AT + timedelta(seconds=n), VERDICT, {}, keep=3) for n in range(5)]
    other = data.save_validation("8", AT, VERDICT, {})
    assert data.validations("7") == tuple(saved[-3:])
    assert data.validations("8") == (other,)
    assert data.validations("9") == ()


def test_N02_refusals_never_push_out_the_record_of_the_last_proof(data: DataDir) -> None:
    """What the proof's image had installed is in it, and tells later what has moved."""
    refusal = Verdict(VerdictName.PROMPT_LEAKS, "prompt.md:4: an address")
    times = (AT + timedelta(seconds=second) for second in range(9))
    proofs = [data.save_validation("7", next(times), PROVEN, {}, keep=3) for _ in range(2)]
    refused = [data.save_validation("7", next(times), refusal, {}, keep=3) for _ in range(5)]
    assert data.validations("7") == (proofs[-1], *refused[-3:])


def test_the_last_validation_is_the_newest_that_can_be_read(data: DataDir) -> None:
    assert data.last_validation("7") is None
    older = data.save_validation("7", AT, PROVEN, {}, fingerprint="sha256:1")
    newer = data.save_validation("7", AT + timedelta(seconds=1), VERDICT, {})
    assert data.last_validation("7") == Last(VERDICT, "", newer)
    (newer / "verdict.json").write_text("{")
    assert data.last_validation("7") == Last(PROVEN, "sha256:1", older)
    # As berbench wrote it before fingerprints were noted.
    (newer / "verdict.json").write_text(
        '{"schema": "berbench.verdict/1", "name": "timeout", "reason": "slow"}'
    )
    assert data.last_validation("7") == Last(Verdict(VerdictName.TIMEOUT, "slow"), "", newer)


def test_C04_a_half_written_record_is_none(data: DataDir) -> None:
    run = data.save_validation("7", AT, VERDICT, {"base": trialed(FACTS)})
    (run.parent / f".new.0123456789abcdef.{run.name}").mkdir()
    assert data.validations("7") == (run,)
    for name, spoilt in (("facts.json", b'{"schema": "berbench.facts/1", "tr'), ("facts.json", b"[]")):
        (run / "base" / name).write_bytes(spoilt)
        with pytest.raises(StoreError, match=r"no berbench\.facts/1"):
            data.load_facts(run, "base")
    (run / "base" / "facts.json").write_bytes(b'{"schema": "berbench.facts/1"}')
    with pytest.raises(StoreError, match="can read"):
        data.load_facts(run, "base")
    with pytest.raises(StoreError, match="is gone"):
        data.load_facts(run, "reference")


def test_a_record_can_not_lead_out_of_its_folder(data: DataDir) -> None:
    run = data.save_validation("7", AT, VERDICT, {"base": trialed(FACTS)})
    facts = run / "base" / "facts.json"
    facts.write_bytes(facts.read_bytes().replace(b"reports/000", b"../build.log"))
    with pytest.raises(StoreError):
        data.load_facts(run, "base")


def test_D19_records_of_ids_that_differ_in_case_only_stay_apart(data: DataDir) -> None:
    folders = [
        data.task_folder(task_id).name for task_id in ("Org__Repo.X-PR_12", "org__repo.x-pr_12", "A", "a")
    ]
    assert len({name.lower() for name in folders}) == 4
    assert folders[1::2] == ["org__repo.x-pr_12", "a"]


def test_a_repository_is_known_by_its_remote_or_its_place(tmp_path: Path) -> None:
    def of(root: str, remote: str) -> DataDir:
        return DataDir.of(tmp_path / root, remote, {"BERBENCH_DATA_DIR": "relative"})

    https = of("a", "https://host/Owner/Repo.git")
    assert https.base == Path("relative").absolute()
    assert https.folder == of("b", "https://host/Owner/Repo").folder
    assert https.folder.name.startswith("repo-")
    assert https.locks != of("b", "https://host/Owner/Repo").locks
    assert (
        len({of(root, remote).folder for root, remote in (("a", ""), ("b", ""), ("a", "x:y"), ("a", "x:z"))})
        == 4
    )
    assert of("é /x", "").folder.name


def test_the_usual_place_is_the_users_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert DataDir.of(tmp_path, "", {}).base == tmp_path / "berbench"


def test_a_text_named_on_the_command_line_is_read_or_refused(tmp_path: Path) -> None:
    (tmp_path / "issue.md").write_bytes(b"\xef\xbb\xbfcaf\xc3\xa9\r\n")
    (tmp_path / "bad").write_bytes(b"caf\xe9")
    assert read_text_file(tmp_path / "issue.md") == "café\r\n"
    for name, said in (("bad", "not UTF-8"), ("absent", "Can't read"), (".", "Can't read")):
        with pytest.raises(UsageError, match=said):
            read_text_file(tmp_path / name)
