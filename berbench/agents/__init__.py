"""Agents at work: a trial of one becomes facts and a candidate.

`run` is the only way in. What an agent may see is decided in `tree` and here, what it may reach in `hosts`, what
counts as its work in `candidate`.
"""

from __future__ import annotations

from berbench.agents.layer import layer_recipe, tool_layer
from berbench.agents.running import Agents
from berbench.agents.tree import visible_tree

__all__ = ["Agents", "layer_recipe", "tool_layer", "visible_tree"]
