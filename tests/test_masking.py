"""Secrets in what an agent leaves."""

from __future__ import annotations

import pytest

from berbench.masking import mask_added

KEY = "sk-canary-0123456789"


def test_in_a_patch_only_lines_that_it_adds_are_masked() -> None:
    patch = f"--- a/x\n+++ b/{KEY}\n@@ -1,2 +1,2 @@\n {KEY}\n-{KEY}\n+let {KEY} be\n".encode()
    masked = f"--- a/x\n+++ b/{KEY}\n@@ -1,2 +1,2 @@\n {KEY}\n-{KEY}\n+let *** be\n".encode()
    assert mask_added(patch, [KEY]) == masked
    assert mask_added(patch, [KEY, "let", "canary-01"]) == masked


@pytest.mark.parametrize("secrets", [(), ("canary-0",), ("another-key-of-somebody",)])
def test_a_patch_without_long_secrets_is_left_as_it_is(secrets: tuple[str, ...]) -> None:
    patch = f"+++ b/x\n+let {KEY} be\r\n+\xff".encode("latin-1")
    assert mask_added(patch, secrets) == patch
