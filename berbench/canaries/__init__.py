"""Canaries: tests of a known outcome, planted in and beside the hidden ones of a trial.

A candidate has never seen them, and half of them must fail. Code under test that rewrites outcomes, ends the process
early or forges a report turns a planted failure into a pass, or loses a planted test. `plant` writes them for pytest,
unittest, Django's runners, jest, vitest, mocha, Node's runner and `go test`, and widens the command so that they run;
`split` finds them in the results; `affordable` tells which hidden tests may be run once more as twins.

Not carried, and then nothing is planted: other runners; scripts and shell programs, whose runner is elsewhere;
arguments that the shell expands; flags that choose tests by what ran before, by what changed or by number
(`--lf`, `--onlyChanged`, `--shard`, …), or that leave out by a pattern (`go test -skip`, `--invert`); an `-m` that
no unmarked test passes; Go packages by import path; commands whose folder is not known (`cd $X`).
Not carried inside a file, only beside it: Python with a `pytestmark` that may skip or parametrise, with a `load_tests`
that may drop tests, or that does not parse; scripts with `.only` (under mocha, none at all then); Go files that don't
import "testing" by its own name.
"""

from __future__ import annotations

from berbench.canaries.planting import plant
from berbench.canaries.sighting import split
from berbench.canaries.twins import affordable

__all__ = ["affordable", "plant", "split"]
