"""Arguments that several verbs take, and options made from configuration classes.

A setting's default, its limits and the sentence that explains it stand in its class alone; here
they become an option of the command line.
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
    """One field of a configuration class and the option that stands for it."""

    path: str  # in the tree, as search.beam
    field: FieldInfo
    flag: str  # as --beam; others after it, as -K
    others: tuple[str, ...]
    group: str | None  # None: shown in the short help

    @property
    def name(self) -> str:
        """Of the parameter."""
        return self.flag.lstrip("-").replace("-", "_")

    @property
    def parameter(self) -> inspect.Parameter:
        """As Typer reads it from the signature of a function."""
        required = self.field.is_required()
        kind = _option_type(self.field.annotation)
        default = self.field.get_default(call_default_factory=True)
        help_text = self.field.description or ""
        if kind is bool:
            # The flag says the opposite of a setting that is true.
            help_text = f"Turn this off: {help_text}" if default else help_text
            default = False
        elif kind == str | None:
            default = None
            if typing.get_origin(self.field.annotation) is tuple or self._is_list:
                kind = list[str] | None  # with commas between, or given several times
        option = typer.Option(self.flag, *self.others, help=help_text, rich_help_panel=self.group)
        return inspect.Parameter(
            self.name,
            inspect.Parameter.KEYWORD_ONLY,
            annotation=Annotated[kind, option],
            default=inspect.Parameter.empty if required else default,
        )

    def value(self, given: Any) -> Any:
        """What the class reads, from what Typer gives."""
        kind = typing.get_origin(self.field.annotation) or self.field.annotation
        if kind is bool:
            return self.field.default != given
        if isinstance(given, list):
            parts = [part.strip() for one in given for part in one.split(",")]
            return [part for part in parts if part] or None
        if given is None or not isinstance(given, str):
            return given
        if isinstance(kind, type) and issubclass(kind, Mapping):
            return dict(self._pairs(given))
        return given

    @property
    def _is_list(self) -> bool:
        """Whether it is a list or None."""
        kinds = typing.get_args(self.field.annotation)
        return any(typing.get_origin(kind) is tuple for kind in kinds)

    def _pairs(self, given: str) -> Iterator[tuple[str, str]]:
        for part in given.split(","):
            key, equals, value = part.strip().partition("=")
            if part.strip() and not (equals and value):
                raise UserError(f"{self.flag} {key}: give its value as in {key}=3")
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
    """Give a verb an option for each setting of a class; the verb gets the checked object.

    `parameter` is the verb's parameter that takes the object. Settings are named by their path, as
    `search.beam`: `common` are shown in the short help; `names` are for options that are not called
    like their setting ("batch", or "window -K"); `groups` give the heading for a setting or for
    all below a path; `without` have no option.
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
        for one in signature.parameters.values():
            kept = one.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            parameters += (
                [setting.parameter for setting in chosen] if one.name == parameter else [kept]
            )
        run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {one.name: one.annotation for one in parameters}
        return typing.cast(F, run)

    return decorate


def leaves(settings: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, FieldInfo]]:
    """The settings of a class and of those inside it, with their paths."""
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
    """The type of an option: numbers, words and choices stay, lists are words with commas."""
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
