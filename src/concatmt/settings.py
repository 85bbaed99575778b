"""The base of every configuration class, and how settings are read from YAML and `--set`.

Knows how to turn a preset or file plus overrides into a checked object, and how to tell a user in
one line what is wrong. Does not know any particular setting: each component keeps its own.
"""

import copy
import difflib
import re
import reprlib
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from concatmt.errors import UserError


class Settings(BaseModel):
    """A node of the configuration tree: unknown keys are errors, objects are immutable."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True)


S = TypeVar("S", bound=Settings)

QUOTED = reprlib.Repr()  # quotes values in messages, shortened
QUOTED.maxstring = QUOTED.maxother = 200


Overrides = Sequence[str] | Mapping[str, Any]  # ["a.b=c"] as after --set, or {"a.b": c}


def load_settings(
    cls: type[S], config: str | Path | Mapping[str, Any], overrides: Overrides = ()
) -> S:
    """Read `config` (a YAML file, a preset's name or a tree), apply overrides, check it all."""
    tree, origin = _read(config)
    return parse_settings(cls, overridden(tree, overrides), origin)


def overridden(tree: Mapping[str, Any], overrides: Overrides) -> dict[str, Any]:
    """Apply overrides to a tree of plain values."""
    result = copy.deepcopy(dict(tree))
    if isinstance(overrides, Mapping):
        for path, value in overrides.items():
            _put(result, path, copy.deepcopy(value), f"{path!r}")
        return result
    for override in overrides:
        path, equals, text = override.partition("=")
        where = f"--set {QUOTED.repr(override)}"
        if not equals:
            raise UserError(f"{where}: write it as key.subkey=value")
        try:
            value = _parse_yaml(text)
        except yaml.YAMLError as error:
            raise UserError(f"{where}: the value is not valid YAML") from error
        _put(result, path, value, where)
    return result


def parse_settings(
    cls: type[S], tree: Mapping[str, Any], origin: str, options: Mapping[str, str] | None = None
) -> S:
    """Check a tree of plain values against `cls`; `origin` says where it came from, for messages.

    `options` maps paths to the option names that the user typed, where they differ.
    """
    try:
        return cls.model_validate(tree)
    except ValidationError as error:
        problems = [_describe(cls, problem, options or {}) for problem in error.errors()]
        more = f" (and {len(problems) - 3} more)" if len(problems) > 3 else ""
        raise UserError(f"{origin}: {'; '.join(problems[:3])}{more}") from error


def preset_names() -> list[str]:
    """Names of the presets that ship with the package."""
    folder = resources.files("concatmt").joinpath("presets")
    return sorted(f.name.removesuffix(".yaml") for f in folder.iterdir() if f.name != "__init__.py")


def nearest(name: str, names: Sequence[str]) -> str:
    """`; did you mean 'x'?` when one of `names` is close to `name`, else nothing."""
    match = difflib.get_close_matches(name, names, n=1)
    return f"; did you mean {match[0]!r}?" if match else ""


def _read(config: str | Path | Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    if isinstance(config, Mapping):
        return dict(config), "settings"
    path = Path(config)
    if path.is_file():
        try:
            text, origin = path.read_text(encoding="utf-8"), str(path)
        except UnicodeDecodeError as error:
            raise UserError(f"{path}: not UTF-8 at byte {error.start}; save it as UTF-8") from error
    elif str(config) in preset_names():
        preset = resources.files("concatmt").joinpath("presets", f"{config}.yaml")
        text, origin = preset.read_text(encoding="utf-8"), f"preset {config}"
    else:
        known = preset_names()
        hint = nearest(str(config), known) or f"; presets are {', '.join(known)}"
        raise UserError(f"config {str(config)!r} is neither a file nor a preset{hint}")
    try:
        tree = _parse_yaml(text)
    except yaml.YAMLError as error:
        raise UserError(f"{origin}: not valid YAML: {error}") from error
    if tree is None:
        tree = {}
    if not isinstance(tree, dict):
        raise UserError(f"{origin}: expected keys and values, found a {type(tree).__name__}")
    return tree, origin


def _parse_yaml(text: str) -> Any:
    """Parse a YAML text; anything wrong with it raises YAMLError.

    The parser raises other errors for impossible dates and deep nesting, and reads
    integers with more digits than Python prints.
    """
    try:
        value = yaml.safe_load(text)
        repr(value)
    except ValueError as error:
        raise yaml.YAMLError(str(error).partition(";")[0]) from error
    except RecursionError as error:
        raise yaml.YAMLError("nested too deeply") from error
    return value


def _put(tree: dict[str, Any], path: str, value: Any, where: str) -> None:
    """Set what is at `path` in the tree; `where` is the override, for messages."""
    keys = path.strip().split(".")
    if not all(keys):
        raise UserError(f"{where}: write it as key.subkey=value")
    for key in keys[:-1]:
        child = tree.setdefault(key, {})
        if not isinstance(child, dict):
            raise UserError(f"{where}: {key!r} holds a value and has no keys below it")
        tree = child
    tree[keys[-1]] = value


def _describe(cls: type[Settings], problem: Any, options: Mapping[str, str]) -> str:
    location, nodes = _walk(cls, problem["loc"])
    path = ".".join(location) or "(top level)"
    # An entry of a list or dictionary belongs to the option for the whole.
    path = next((options[path[:n]] for n in _ends(path) if path[:n] in options), path)
    kind = problem["type"]
    if kind == "extra_forbidden":
        allowed = sorted({name for node in nodes for name in node.model_fields})
        hint = nearest(location[-1], allowed) or f"; keys here are {', '.join(allowed)}"
        return f"{path}: unknown key{hint}"
    if kind == "missing":
        return f"{path}: missing, must be given"
    message = problem["msg"].removeprefix("Value error, ")
    if kind.startswith("union_tag"):
        context = problem["ctx"]
        tag, expected = context["discriminator"].strip("'"), context.get("expected_tags", "")
        hint = nearest(context.get("tag", ""), re.findall(r"'(.*?)'", expected))
        if not expected:
            known = ", ".join(sorted({str(one) for node in nodes for one in _tags(node)}))
            return f"{path}.{tag}: missing, must be one of {known}"
        return f"{path}.{tag}: must be one of {expected}{hint}"
    if kind in ("tuple_type", "list_type"):
        return f"{path}: must be a list, as in [a, b], found {QUOTED.repr(problem['input'])}"
    if kind == "value_error" and not isinstance(problem["input"], str | int | float | bool):
        return f"{path}: {message}"
    return f"{path}: {message[:1].lower()}{message[1:]}, found {QUOTED.repr(problem['input'])}"


def _ends(path: str) -> list[int]:
    """Where a path can be cut, longest first."""
    return [len(path), *(n for n in range(len(path) - 1, 0, -1) if path[n] == ".")]


def _walk(
    cls: type[BaseModel], location: Sequence[int | str]
) -> tuple[list[str], list[type[BaseModel]]]:
    """The path of a key as the user wrote it, and the possible classes at that path.

    pydantic includes the chosen kind of a union in the location; users did not write that.
    """
    path: list[str] = []
    nodes: list[type[BaseModel]] = [cls]
    for part in location:
        chosen = [node for node in nodes if part in _tags(node)]
        if len(nodes) > 1 and chosen:
            nodes = chosen
            continue
        path.append(str(part))
        annotations = [
            node.model_fields[n].annotation
            for node in nodes
            for n in node.model_fields
            if n == part
        ]
        # Dictionary keys and list indices keep the classes of the field.
        nodes = [model for annotation in annotations for model in _models_in(annotation)] or nodes
    return path, nodes


def _tags(node: type[BaseModel]) -> set[Any]:
    return {
        value
        for name in ("kind", "format")
        if name in node.model_fields
        for value in typing.get_args(node.model_fields[name].annotation)
    }


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if hasattr(annotation, "models"):  # registered classes, such as document formats
        yield from annotation.models
    elif isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    elif isinstance(annotation, types.UnionType) or typing.get_origin(annotation) is not None:
        for argument in typing.get_args(annotation):
            yield from _models_in(argument)
