"""The tools that there are: built-in documents, then the project's, then the user's, merged key by key.

The project's stand above the built-in ones, because what a team measures is the team's to say. The user's stand
last, because they are about one machine (another key's name, a gateway, a price) and because whoever's secrets are
handed over has the last word. A name that is new adds a tool. Every layer is checked by itself, so that an error
names the file that it stands in. Errors: ConfigError; StoreError when the file system refuses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import platformdirs

from berbench.documents import checked_keys
from berbench.errors import ConfigError
from berbench.matrix.hints import refused
from berbench.matrix.labels import NAME
from berbench.matrix.overlay import merged
from berbench.matrix.soundness import problems_of
from berbench.model.tools import ToolDocument
from berbench.store import files as disk
from berbench.yamlio import load, typed

BUILT_IN = "built in"
PROJECT_FOLDER = ".ber/bench/tools"
OVERRIDE = "BERBENCH_CONFIG_DIR"
SUFFIX = ".yaml"


@dataclass(frozen=True, slots=True)
class Tools:
    """Every tool by its name, and the layers that made it, first to last, as messages call them."""

    documents: Mapping[str, ToolDocument]
    layers: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class _Layer:
    """A document as it was written, before it is merged."""

    tool: str
    where: str
    tree: Mapping[str, Any]


def user_tools_folder(environ: Mapping[str, str]) -> Path:
    """Where the user's own tools lie; it may be absent."""
    usual = platformdirs.user_config_dir("berbench", appauthor=False)
    return Path(environ.get(OVERRIDE, "") or usual).absolute() / "tools"


def read_tools(root: Path, user_folder: Path) -> Tools:
    """The tools of a repository and of whoever works on it."""
    trees: dict[str, Mapping[str, Any]] = {}
    layers: dict[str, tuple[str, ...]] = {}
    documents: dict[str, ToolDocument] = {}
    for layer in (*_built_in(), *_project(root), *_folder(user_folder, disk.shown(user_folder))):
        tree = merged(trees.get(layer.tool, {}), layer.tree)
        documents[layer.tool] = _typed(tree, layer)
        trees[layer.tool] = tree
        layers[layer.tool] = (*layers.get(layer.tool, ()), layer.where)
    for name, document in documents.items():
        if problems := problems_of(document, documents):
            where = layers[name][-1]
            at = f"{name}{SUFFIX}, {BUILT_IN}" if where == BUILT_IN else where
            raise refused(at, problems, f"Correct {at}; `berbench schema tool` prints what it may hold.")
    return Tools(documents, layers)


def _typed(tree: Mapping[str, Any], layer: _Layer) -> ToolDocument:
    # The layers below were typed already, so what is wrong now is this layer's.
    document = typed(ToolDocument, {"name": layer.tool, **tree}, layer.where)
    if document.name != layer.tool:
        raise ConfigError(
            f"{layer.where}: `name` is {document.name[:80]!r}, but the file is {layer.tool}{SUFFIX}.",
            remedy="Make the two equal, or leave `name` out.",
        )
    return document


def _built_in() -> Iterator[_Layer]:
    folder = resources.files("berbench") / "tools"
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        if file.name.endswith(SUFFIX):
            yield _layer(file.name, BUILT_IN, file.read_bytes())


def _project(root: Path) -> Iterator[_Layer]:
    folder = disk.real_folder(root, ".ber", "bench", "tools")
    for layer in _folder(folder, PROJECT_FOLDER):
        auth = layer.tree.get("auth")
        # A repository is cloned from anywhere; that it names a file of somebody's home must not be enough to get it.
        if isinstance(auth, Mapping) and auth.get("files"):
            raise ConfigError(
                f"{layer.where}: `auth.files` is not for a project's tools: a repository can't ask for files of "
                "whoever clones it.",
                remedy="Name them in your own folder of tools, which `berbench tool list` shows.",
            )
        yield layer


def _folder(folder: Path, called: str) -> Iterator[_Layer]:
    with disk.translated("read", folder):
        try:
            names = sorted(path.name for path in folder.iterdir())
        except FileNotFoundError:
            return
    for name in names:
        if name.endswith(".yml"):
            raise ConfigError(
                f"{called}/{disk.shown(name)} would not be read.", remedy="Name it with .yaml at the end."
            )
        if name.endswith(SUFFIX) and not name.startswith("."):
            yield _layer(name, f"{called}/{disk.shown(name)}", disk.read_file(folder / name))


def _layer(name: str, where: str, text: bytes) -> _Layer:
    tool = name.removesuffix(SUFFIX)
    if not NAME.fullmatch(tool):
        raise ConfigError(
            f"{where} can't give its name to a tool.",
            remedy="Name it with letters, digits, `.`, `_` and `-`.",
        )
    return _Layer(tool, where, checked_keys(ToolDocument, load(text, where), where))
