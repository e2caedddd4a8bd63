"""What `task show` tells, and that nothing beside the task keeps it from telling."""

from __future__ import annotations

from sampleplace import NOW, SamplePlace

from berbench.model.trial import Verdict, VerdictName
from berbench.stages.show import overview


def test_a_spoilt_record_hides_neither_the_task_nor_an_older_record(place: SamplePlace) -> None:
    created = place.create(place.sample.pull_requests[0])
    verdict = Verdict(VerdictName.BASE_PASSES, "the base trial passes")
    older = place.data.save_validation(created.id, NOW, verdict, {})
    newer = place.data.save_validation(created.id, NOW.replace(year=NOW.year + 1), verdict, {})
    (newer / "verdict.json").write_text("{")
    view = overview(place.project, place.history, place.data, created.id)
    assert (view.last, view.logs) == (verdict, older)
    (older / "verdict.json").unlink()
    view = overview(place.project, place.history, place.data, created.id)
    assert (view.last, view.logs) == (None, None)
