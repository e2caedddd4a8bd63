"""Writes what the CLIs print into tests/telemetry/captures: `python tests/clis/capture.py codex.edit aider.refuse`.

Captures are named tool.script. A mini-swe-agent's trajectory is kept without its settings and its instructions.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from cli_bench import cli_bench  # noqa: E402


def shortened(trajectory: bytes) -> bytes:
    """The parts that tell usage and endings."""
    document = json.loads(trajectory)
    document["info"].pop("config", None)
    for message in document["messages"]:
        if message["role"] in ("system", "user"):
            message["content"] = "…"
        if trace := message.get("extra", {}).get("traceback"):
            message["extra"]["traceback"] = trace[:200]
    return (json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode()


def main(names: list[str]) -> None:
    tools = sorted({name.partition(".")[0] for name in names})
    with tempfile.TemporaryDirectory() as room, cli_bench(Path(room), tools) as bench:
        for name in names:
            tool, _, script = name.partition(".")
            facts = bench.run(tool, script, timeout_s=180)
            data = shortened(facts.telemetry) if tool == "mini-swe-agent" else facts.telemetry
            (ROOT / "tests" / "telemetry" / "captures" / name).write_bytes(data)
            print(name, "exit code", facts.exit_code, "bytes", len(data))


if __name__ == "__main__":
    main(sys.argv[1:])
