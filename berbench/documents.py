"""A tree of texts → a typed document, or one clear sentence about what is wrong in it.

Trees are what `yamlio.load` gives: every scalar a `str`, nothing guessed. The models do the typing; what they
say about bad input is put into plain words here, with the key's path and the nearest known key.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from berbench.errors import ConfigError
from berbench.model.task import Validation

M = TypeVar("M", bound=BaseModel)

_NOTHING = ("", "null", "~", "Null", "NULL")  # how people write "no value" where one may be missing

_PLAIN_WORDS = {
    "missing": "is missing",
    "string_type": "must be text, not {shape}",
    "int_type": "must be a whole number, not {shape}",
    "float_type": "must be a number, not {shape}",
    "int_parsing": "must be a whole number, not {input}",
    "int_from_float": "must be a whole number, not {input}",
    "float_parsing": "must be a number, not {input}",
    "finite_number": "must be a number, not {input}",
    "bool_parsing": "must be true or false, not {input}",
    "tuple_type": "must be a list, not {shape}",
    "list_type": "must be a list, not {shape}",
    "dict_type": "must be a mapping of keys to values, not {shape}",
    "model_type": "must be a mapping of keys to values, not {shape}",
    "model_attributes_type": "must be a mapping of keys to values, not {shape}",
    "literal_error": "must be {expected}, not {input}",
    "enum": "must be {expected}, not {input}",
    "greater_than": "must be greater than {gt}, not {input}",
    "greater_than_equal": "must be at least {ge}, not {input}",
    "less_than_equal": "must be at most {le}, not {input}",
    "string_pattern_mismatch": "must look like {pattern}, not {input}",
    "datetime_parsing": "must be a date and time such as 2024-05-01T12:00:00Z, not {input}",
    "datetime_from_date_parsing": "must be a date and time such as 2024-05-01T12:00:00Z, not {input}",
    "datetime_type": "must be a date and time such as 2024-05-01T12:00:00Z, not {shape}",
}


@dataclass(frozen=True, slots=True)
class _Key:
    """What a model says of one of its keys."""

    has_default: bool
    nullable: bool
    model: type[BaseModel] | None
    items: type[BaseModel] | None = None  # what a list or a mapping of any keys holds


def typed(model: type[M], tree: object, name: str) -> M:
    """The tree as `model`. An empty value where the model has a default means the default.

    ConfigError names the document (`name`), the key's path and the problem; unknown keys come first, with the
    nearest known key. Further problems are in its `details`.
    """
    tree = checked_keys(model, tree, name)
    if model is not Validation:  # names of tests may hold anything
        nul = tuple(
            f"`{_path(path)}` holds a NUL character, which no command, path or name can"
            for path in _nul(tree)
        )
        if nul:
            raise _error(name, nul)
    try:
        return model.model_validate(_filled(model, tree))
    except ValidationError as error:
        raise _error(
            name, tuple(_sentence(problem) for problem in error.errors(include_url=False))
        ) from error


def checked_keys(model: type[BaseModel], tree: object, name: str) -> Mapping[str, Any]:
    """The tree, when it is a mapping with no key that the model does not know: what a part of a document can be
    asked before it is merged with the rest. ConfigError as `typed`."""
    if isinstance(tree, str) and tree.strip() == "":
        tree = {}
    if not isinstance(tree, Mapping):
        raise ConfigError(f"{name} must hold keys and values, not {_shape(tree)}.", remedy=f"Rewrite {name}.")
    if unknown := tuple(_unknown(model, tree, "")):
        raise _error(name, unknown)
    return tree


def _error(name: str, problems: Sequence[str]) -> ConfigError:
    return ConfigError(
        f"{name}: {problems[0]}.",
        remedy=f"Correct {name}; `berbench schema` prints what each document may hold.",
        details=problems[1:],
    )


@lru_cache(maxsize=64)
def _keys(model: type[BaseModel]) -> Mapping[str, _Key]:
    keys = {}
    for field_name, field in model.model_fields.items():
        options = _options(field.annotation)
        keys[field.alias or field_name] = _Key(
            has_default=not field.is_required(),
            nullable=type(None) in options,
            model=_model_among(options),
            items=_model_among([part for option in options for part in typing.get_args(option)]),
        )
    return keys


def _model_among(options: Sequence[Any]) -> type[BaseModel] | None:
    models = (option for option in options if isinstance(option, type) and issubclass(option, BaseModel))
    return next(models, None)


def _options(annotation: Any) -> tuple[Any, ...]:
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        return typing.get_args(annotation)
    return (annotation,)


def _unknown(model: type[BaseModel], tree: Mapping[str, Any], path: str) -> Iterator[str]:
    keys = _keys(model)
    for key, value in tree.items():
        known = keys.get(key)
        if known is None:
            near = get_close_matches(key, keys, n=1, cutoff=0.6)
            hint = f"did you mean `{path}{near[0]}`?" if near else f"known keys are {', '.join(keys)}"
            yield f"`{path}{shown(key)}` is no known key ({hint})"
        elif known.model is not None and isinstance(value, Mapping):
            yield from _unknown(known.model, value, f"{path}{key}.")
        elif known.items is not None:
            for where, item in _items(value):
                if isinstance(item, Mapping):
                    yield from _unknown(known.items, item, f"{path}{key}{where}.")


def _items(value: object) -> Iterator[tuple[str, Any]]:
    """What a list or a mapping holds, each with how its place is written behind the key."""
    if isinstance(value, Mapping):
        yield from ((f".{shown(key)}", item) for key, item in value.items())
    elif isinstance(value, list):
        yield from ((f"[{number}]", item) for number, item in enumerate(value))


def _nul(tree: object, path: tuple[int | str, ...] = ()) -> Iterator[tuple[int | str, ...]]:
    """Where the tree's texts hold a NUL character."""
    if isinstance(tree, Mapping):
        if any("\0" in key for key in tree):
            yield path or ("",)
        for key, value in tree.items():
            yield from _nul(value, (*path, key))
    elif isinstance(tree, list):
        for number, value in enumerate(tree):
            yield from _nul(value, (*path, number))
    elif isinstance(tree, str) and "\0" in tree:
        yield path


def _filled(model: type[BaseModel], tree: Mapping[str, Any]) -> dict[str, Any]:
    """The tree without values that were left empty, so that the model's defaults stand in."""
    filled: dict[str, Any] = {}
    for key, known in _keys(model).items():
        if key not in tree:
            continue
        value = tree[key]
        if isinstance(value, str) and known.nullable and value in _NOTHING:
            if not known.has_default:
                filled[key] = None
        elif value == "" and known.has_default:
            continue
        elif known.model is not None and isinstance(value, Mapping):
            filled[key] = _filled(known.model, value)
        elif known.items is not None and isinstance(value, Mapping):
            filled[key] = {name: _filled_item(known.items, item) for name, item in value.items()}
        elif known.items is not None and isinstance(value, list):
            filled[key] = [_filled_item(known.items, item) for item in value]
        else:
            filled[key] = value
    return filled


def _filled_item(model: type[BaseModel], value: Any) -> Any:
    return _filled(model, value) if isinstance(value, Mapping) else {} if value == "" else value


def _sentence(problem: Any) -> str:
    path = _path(problem["loc"])
    context = problem.get("ctx", {})
    if path == "schema":
        return (
            f"`schema` is {shown(problem['input'])!r}, and this berbench reads "
            f"{context.get('expected', '')}; another version wrote it"
        )
    words = _PLAIN_WORDS.get(problem["type"])
    if words is None:
        message = str(context.get("error", problem["msg"]))
        return f"`{path}`: {message}"
    filled = words.format_map(
        {
            "shape": _shape(problem["input"]),
            "input": repr(shown(problem["input"])),
            **{key: context.get(key, "") for key in ("expected", "gt", "ge", "le", "pattern")},
        }
    )
    return f"`{path}` {filled}"


def _path(loc: Sequence[int | str]) -> str:
    path = ""
    for step in loc:
        path += f"[{step}]" if isinstance(step, int) else f".{shown(step)}" if path else shown(step)
    return path


def shown(value: object) -> str:
    """At most 80 characters of what the user wrote, on one line and fit for any stream."""
    text = str(value).encode("utf-8", "backslashreplace").decode()
    text = " ".join(text.split())
    return text if len(text) <= 80 else text[:77] + "…"


def _shape(value: object) -> str:
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, (list, tuple)):
        return "a list"
    return repr(shown(value)) if value not in ("", None) else "empty"
