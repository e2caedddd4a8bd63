"""`python3 -m model_server --port 8000 [--scripts FILE.json] [--tls NAME]`: answers on every address of this machine.

With `--tls` it answers on port 443 as well, by TLS as NAME; whom to trust for that is then in `ca.pem`.
"""

from __future__ import annotations

import argparse
import json
import ssl
import subprocess
from pathlib import Path

from model_server.script import SCRIPTS, from_json
from model_server.server import ModelServer

parser = argparse.ArgumentParser(prog="model_server")
parser.add_argument("--host", default="0.0.0.0")
parser.add_argument("--port", type=int, default=8000)
parser.add_argument("--scripts", type=Path, help="more scripts, as JSON")
parser.add_argument("--tls", metavar="NAME")
given = parser.parse_args()


def certified(name: str) -> ssl.SSLContext:
    """A new authority, and a certificate of its own for the name. Some clients take no authority's for a server's."""
    new = "openssl req -newkey rsa:2048 -nodes"
    Path("names").write_text(f"subjectAltName=DNS:{name}\n", encoding="ascii")
    for command in (
        f"{new} -x509 -keyout ca.key -out ca.pem -days 9 -subj /CN=tests",
        f"{new} -keyout own.key -out own.csr -subj /CN={name}",
        "openssl x509 -req -in own.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 9 -extfile names -out own.pem",
    ):
        subprocess.run(command.split(), check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain("own.pem", "own.key")
    return context


scripts = dict(SCRIPTS)
if given.scripts:
    scripts |= from_json(json.loads(given.scripts.read_text(encoding="utf-8")))
server = ModelServer(scripts, given.host, given.port)
if given.tls:
    server.serve_tls(443, certified(given.tls))
print(f"listening on {given.host}:{server.port}", flush=True)
server.serve()
