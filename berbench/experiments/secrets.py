"""What tools are given of the host, by name: whether it is there. Values are read by whoever starts an agent."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from berbench.matrix.auth import Given, given
from berbench.model.tools import Auth


def host_file(source: str) -> Path:
    """The file of the host that a staged file's `source` means: `~` and variables are expanded."""
    return Path(os.path.expandvars(source)).expanduser()


def found(auth: Auth, environ: Mapping[str, str]) -> Given:
    """The names of variables and files that are handed on, and of those that are needed and not there."""
    variables = given(auth, environ)
    there = tuple(file.source for file in auth.files if os.access(host_file(file.source), os.R_OK))
    absent = tuple(file.source for file in auth.files if file.source not in there)
    return Given((*variables.names, *there), (*variables.missing, *absent), variables.unset)
