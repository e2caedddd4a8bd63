"""What every engine must do: one list of checks, run on the fake and on real containers.

A check takes a `Bench` (an engine and a ready image) and raises AssertionError. `needs` says why the fake
can't be held to a check; "" when it can.
"""

from __future__ import annotations

from berbench.engine.conformance import commands, containers, trees, workspaces
from berbench.engine.conformance.bench import CHECKS, TREE, Bench, Check, recipe

__all__ = ["CHECKS", "TREE", "Bench", "Check", "commands", "containers", "recipe", "trees", "workspaces"]
