"""Arguments that several verbs take, and options made from configuration classes.

A setting's default, limits and explanation are written once, in its class; this module turns
them into command-line options.
"""

import functools
import inspect
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar

import typer
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from concatmt.errors import UserError
from concatmt.settings import Settings, parse_settings

ConfigArgument = Annotated[str, typer.Argument(help="A YAML file, or the name of a preset.")]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Override a setting, as in text.size=8000."),
]

F = TypeVar("F", bound=Callable[..., None])


@dataclass(frozen=True)
class Setting:
    """One field of a configuration class and its option."""

    path: str  # in the tree, such as search.beam
    field: FieldInfo
    flag: str  # such as --beam; then any others, such as -K
    others: tuple[str, ...]
    group: str | None  # None: shown in the short help

    @property
    def name(self) -> str:
        """Name of the parameter."""
        return self.flag.lstrip("-").replace("-", "_")

    @property
    def parameter(self) -> inspect.Parameter:
        """The parameter as Typer reads it from a function's signature."""
        required = self.field.is_required()
        kind = _option_type(self.field.annotation)
        default = self.field.get_default(call_default_factory=True)
        help_text = self.field.description or ""
        if kind is bool:
            # The flag turns off a setting that is on; its description says what that does.
            default = False
        elif kind == str | None:
            default = None
            if typing.get_origin(self.field.annotation) is tuple or self._is_list:
                kind = list[str] | None  # comma-separated, or given several times
        option = typer.Option(self.flag, *self.others, help=help_text, rich_help_panel=self.group)
        return inspect.Parameter(
            self.name,
            inspect.Parameter.KEYWORD_ONLY,
            annotation=Annotated[kind, option],
            default=inspect.Parameter.empty if required else default,
        )

    def value(self, given: Any) -> Any:
        """The value for the configuration class, from what Typer passes."""
        kind = typing.get_origin(self.field.annotation) or self.field.annotation
        if kind is bool:
            return self.field.default != given
        if isinstance(given, list):
            parts = [part.strip() for value in given for part in value.split(",")]
            return [part for part in parts if part] or None
        if given is None or not isinstance(given, str):
            return given
        if isinstance(kind, type) and issubclass(kind, Mapping):
            return dict(self._pairs(given))
        return given

    @property
    def _is_list(self) -> bool:
        """Whether the field is a list (or None)."""
        kinds = typing.get_args(self.field.annotation)
        return any(typing.get_origin(kind) is tuple for kind in kinds)

    def _pairs(self, given: str) -> Iterator[tuple[str, str]]:
        for part in given.split(","):
            key, equals, value = part.strip().partition("=")
            if part.strip() and not (equals and value):
                raise UserError(f"{self.flag} {key}: needs a value, as in {key}=3")
            if part.strip():
                yield key.strip(), value.strip()


def options_of(
    settings: type[Settings],
    parameter: str = "config",
    *,
    common: Sequence[str] = (),
    names: Mapping[str, str] | None = None,
    groups: Mapping[str, str] | None = None,
    without: Sequence[str] = (),
) -> Callable[[F], F]:
    """Give a verb an option for each setting of a class; it is called with the checked object.

    `parameter` is the verb's parameter for that object. Settings are named by their path, such as
    `search.beam`: `common` appear in the short help; `names` are for options that are not called
    after their setting ("batch", or "window -K"); `groups` maps a setting, or a path above it,
    to its heading; those in `without` get no option.
    """
    chosen = [
        Setting(path, field, *_flags(path, (names or {}).get(path)), group)
        for path, field in leaves(settings)
        if path not in without
        for group in [None if path in common else _group(path, groups or {})]
    ]

    def decorate(verb: F) -> F:
        @functools.wraps(verb)
        def run(**given: Any) -> None:
            tree: dict[str, Any] = {}
            for setting in chosen:
                value = setting.value(given.pop(setting.name))
                if value is not None:
                    _put(tree, setting.path, value)
            flags = {setting.path: setting.flag for setting in chosen}
            checked = parse_settings(settings, tree, verb.__name__, flags)
            verb(**given, **{parameter: checked})

        signature = inspect.signature(verb, eval_str=True)
        parameters = []
        for declared in signature.parameters.values():
            kept = declared.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            parameters += (
                [setting.parameter for setting in chosen] if declared.name == parameter else [kept]
            )
        run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {declared.name: declared.annotation for declared in parameters}
        return typing.cast(F, run)

    return decorate


def leaves(settings: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, FieldInfo]]:
    """All settings of a class and of nested classes, with their paths."""
    for name, field in settings.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, Settings):
            yield from leaves(kind, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", field


def _flags(path: str, name: str | None) -> tuple[str, tuple[str, ...]]:
    first, *others = (name or path.rpartition(".")[2].replace("_", "-")).split()
    return f"--{first}", tuple(others)


def _group(path: str, groups: Mapping[str, str]) -> str | None:
    """The heading of the setting, or of the nearest path above it."""
    while path and path not in groups:
        path = path.rpartition(".")[0]
    return groups.get(path)


def _option_type(annotation: Any) -> Any:
    """An option's type: numbers, words and choices as they are, a list as comma-separated words."""
    origin = typing.get_origin(annotation)
    if origin is Annotated:
        return _option_type(typing.get_args(annotation)[0])
    if origin in (types.UnionType, typing.Union):
        parts = [_option_type(part) for part in typing.get_args(annotation)]
        return functools.reduce(lambda one, other: one | other, parts)
    if origin is Literal or annotation in (int, float, str, bool, type(None)):
        return annotation
    return str | None


def _put(tree: dict[str, Any], path: str, value: Any) -> None:
    *above, last = path.split(".")
    for key in above:
        tree = tree.setdefault(key, {})
    tree[last] = value
