"""What an agent's output tells of tokens, cost, turns, its last message, and why it ended early."""

from berbench.telemetry.read import read_usage

__all__ = ["read_usage"]
