from __future__ import annotations

import re

import pytest

from berbench.engine.failures import image_fault, is_busy, says_disk_full, too_little_memory, world_broke

WORLD = [
    "toomanyrequests: You have reached your pull rate limit. You may increase the limit by authenticating",
    'Head "https://mirror.example/v2/x/manifests/1": unauthorized: authentication required',
    'Get "https://mirror.example/v2/": dial tcp: lookup mirror.example: no such host',
    'Get "https://mirror.example/v2/": dial tcp 10.0.0.1:443: connect: no route to host',
    'Get "https://mirror.example/v2/": net/http: TLS handshake timeout',
    'Get "https://mirror.example/v2/": x509: certificate signed by unknown authority',
    'Get "https://mirror.example/v2/": net/http: request canceled (Client.Timeout exceeded)',
    "received unexpected HTTP status: 503 Service Unavailable",
    'error pulling image configuration: Get "https://x": dial tcp: i/o timeout',
    "write /var/lib/docker/tmp/GetImageBlob1: no space left on device",
    "failed to solve: node:20: unexpected status code [manifests 20]: 429 Too Many Requests",
    "failed to solve with frontend dockerfile.v0: failed to resolve: dial tcp 10.0.0.1:443: i/o timeout",
]

TASK = [
    "The command '/bin/sh -c pip install -r requirements.txt' returned a non-zero code: 1",
    "The command '/bin/sh -c curl https://x || echo toomanyrequests 429' returned a non-zero code: 22",
    "The command '/bin/sh -c echo no space left on device; false' returned a non-zero code: 1",
    'process "/bin/sh -c wget x # i/o timeout" did not complete successfully: exit code: 4',
    "executor failed running [/bin/sh -c echo unauthorized\nfalse]: exit code: 1",
    "manifest for debian:nope not found: manifest unknown: manifest unknown",
    "pull access denied for nope, repository does not exist or may require 'docker login': denied",
    "no matching manifest for linux/amd64 in the manifest list entries",
    "COPY failed: file not found in build context or excluded by .dockerignore: stat x: file does not exist",
    "dockerfile parse error line 3: unknown instruction: RNU",
    "invalid reference format",
]


@pytest.mark.parametrize("message", WORLD)
def test_D20_a_registry_that_fails_is_the_engines_trouble(message: str):
    assert world_broke(message)


def test_D20_only_a_busy_registry_is_asked_again():
    """What needs another password, address or disk does not get better by itself."""
    busy = [message for message in WORLD if is_busy(message)]
    assert busy == [message for message in WORLD if re.search(r"toomany|503|429", message)]
    assert not any(map(is_busy, TASK))


@pytest.mark.parametrize("message", TASK)
def test_D20_a_command_or_image_that_fails_is_the_dockerfiles(message: str):
    assert not world_broke(message)


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (
            'OCI runtime create failed: exec: "/bin/sh": stat /bin/sh: no such file or directory: unknown',
            "the image has no usable /bin/sh",
        ),
        ("OCI runtime create failed: exec /bin/sh: exec format error", "another kind of processor"),
        ("unable to find user app: no matching entries in passwd file", "USER does not exist"),
        (
            'OCI runtime create failed: chdir to cwd ("/work") set in config.json failed: permission denied',
            "WORKDIR",
        ),
    ],
)
def test_an_image_that_cannot_start_is_told_apart(message: str, reason: str):
    assert reason in image_fault(message)


@pytest.mark.parametrize(
    "message",
    [
        "failed to create shim: context deadline exceeded",
        "driver failed programming external connectivity on endpoint",
        "OCI runtime create failed: unable to apply cgroup configuration: no such file or directory",
        "error creating overlay mount to /var/lib/docker/overlay2: no space left on device",
    ],
)
def test_an_engine_that_cannot_start_is_no_images_fault(message: str):
    assert image_fault(message) == ""
    assert not too_little_memory(message)


def test_a_limit_below_any_process_is_told():
    assert too_little_memory("container init was OOM-killed (memory limit too low?)")
    assert too_little_memory("Minimum memory limit allowed is 6MB")


def test_a_full_disk_is_told_by_the_log():
    assert says_disk_full(b"tar: x: Cannot write: No space left on device")
    assert not says_disk_full(b"all fine")
