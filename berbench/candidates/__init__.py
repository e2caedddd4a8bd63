"""What of a candidate reaches the verifier: its changes to what decides the outcome of a test run are dropped.

`table` lists the files that steer a test runner, `partly` those that steer it in a part, `shadows` the names that
hide a runner's own modules, `commands` what the verify command and the set-up lines name, `loads` what the runner's
settings name, `links` where links lead. `protection` puts them together, `sifting` sorts a candidate's changes by it.
"""

from __future__ import annotations

from berbench.candidates.commands import Commands, read_commands
from berbench.candidates.loads import read_loads, settings_in
from berbench.candidates.partly import REST_KEPT, partly_steering
from berbench.candidates.protection import Protection
from berbench.candidates.sifting import Sides, Sifted, sift

__all__ = [
    "REST_KEPT",
    "Commands",
    "Protection",
    "Sides",
    "Sifted",
    "partly_steering",
    "read_commands",
    "read_loads",
    "settings_in",
    "sift",
]
