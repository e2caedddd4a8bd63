"""From trials to one verdict: a pure function of facts and evidence.

`comparison` sets two trials side by side, `ran` asks whether the right tests ran at all, `proof` whether they
show the change, and `judge` puts the questions in order. `luck` compares trials that should end alike, `drift`
an older proof with trials of today, and `grade` judges a candidate.
"""

from __future__ import annotations

from berbench.verdicts.comparison import Hidden, Trialed
from berbench.verdicts.grade import Needs, Watched, grade
from berbench.verdicts.judge import disagreements, judge

__all__ = ["Hidden", "Needs", "Trialed", "Watched", "disagreements", "grade", "judge"]
