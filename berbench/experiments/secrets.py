"""What tools are given of the host: by name whether it is there, and at an agent's start the values themselves."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from berbench.errors import ConfigError
from berbench.matrix.auth import Given, given
from berbench.matrix.placeholders import fill
from berbench.model.agent import SecretFile
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


def variables(auth: Auth, environ: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """The variables that are handed on, with their values."""
    return tuple((name, environ[name]) for name in given(auth, environ).names)


def secret_files(auth: Auth, home: str) -> tuple[SecretFile, ...]:
    """The files that are handed on, with their bytes. ConfigError when one can't be read."""
    return tuple(
        SecretFile(fill(file.target, {"home": home}), _read(host_file(file.source))) for file in auth.files
    )


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ConfigError(
            f"Can't read {path}: {error.strerror}.", remedy="Check that it is there."
        ) from error
