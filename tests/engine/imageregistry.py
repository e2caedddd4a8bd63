"""A registry on loopback that serves one small image; another one can be pushed under the same tag."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import io
import json
import tarfile
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

NAME = "small/image"
_MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"


class ImageRegistry:
    """What is served now. `address` is `host:port`; `digest` that of the manifest."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.digest = ""
        self.files: dict[str, bytes] = {}

    @property
    def image(self) -> str:
        """The name by which an engine knows the image."""
        return f"{self.address}/{NAME}:1"

    def push(self, text: str) -> None:
        """Serve an image that holds one file with this text, under the tag that the last one had."""
        layer = _layer(text.encode())
        config = json.dumps(
            {
                "architecture": "amd64",
                "os": "linux",
                "config": {},
                "rootfs": {"type": "layers", "diff_ids": [_digest(layer)]},
                "history": [{"created_by": "push"}],
            }
        ).encode()
        packed = gzip.compress(layer, mtime=0)
        manifest = json.dumps(
            {
                "schemaVersion": 2,
                "mediaType": _MANIFEST,
                "config": _part("application/vnd.docker.container.image.v1+json", config),
                "layers": [_part("application/vnd.docker.image.rootfs.diff.tar.gzip", packed)],
            }
        ).encode()
        self.digest = _digest(manifest)
        self.files = {
            "/v2/": b"{}",
            **{f"/v2/{NAME}/manifests/{name}": manifest for name in ("1", self.digest)},
            **{f"/v2/{NAME}/blobs/{_digest(blob)}": blob for blob in (config, packed)},
        }


@contextlib.contextmanager
def image_registry() -> Iterator[ImageRegistry]:
    """A registry that nothing was pushed to yet."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = registry.files.get(self.path)
            answer = b'{"errors": [{"code": "MANIFEST_UNKNOWN"}]}' if found is None else found
            self.send_response(404 if found is None else 200)
            self.send_header("Docker-Distribution-Api-Version", "registry/2.0")
            self.send_header("Docker-Content-Digest", _digest(answer))
            self.send_header("Content-Type", _MANIFEST if "manifests" in self.path else "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(answer)

        do_HEAD = do_GET

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        registry = ImageRegistry(f"127.0.0.1:{server.server_port}")
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield registry
        server.shutdown()


def _layer(data: bytes) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        member = tarfile.TarInfo("pushed")
        member.size = len(data)
        tar.addfile(member, io.BytesIO(data))
    return out.getvalue()


def _digest(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def _part(kind: str, data: bytes) -> dict[str, str | int]:
    return {"mediaType": kind, "size": len(data), "digest": _digest(data)}
