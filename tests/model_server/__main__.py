"""`python3 -m model_server --port 8000 [--scripts FILE.json]`: answers on every address of this machine."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from model_server.script import SCRIPTS, from_json
from model_server.server import ModelServer

parser = argparse.ArgumentParser(prog="model_server")
parser.add_argument("--host", default="0.0.0.0")
parser.add_argument("--port", type=int, default=8000)
parser.add_argument("--scripts", type=Path, help="more scripts, as JSON")
given = parser.parse_args()
scripts = dict(SCRIPTS)
if given.scripts:
    scripts |= from_json(json.loads(given.scripts.read_text(encoding="utf-8")))
server = ModelServer(scripts, given.host, given.port)
print(f"listening on {given.host}:{server.port}", flush=True)
server.serve()
