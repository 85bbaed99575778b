"""Options made from configuration classes."""

from collections.abc import Callable, Mapping
from typing import Literal

import pytest
from pydantic import Field
from typer.testing import CliRunner

from concatmt.cli.app import Application, Group
from concatmt.cli.options import leaves, options_of
from concatmt.decoding.config import TranslateConfig
from concatmt.errors import UserError
from concatmt.settings import Settings
from concatmt.testbed.dials import Dials


class Inner(Settings):
    size: int = Field(default=4, ge=1, description="How large.")
    careful: bool = Field(default=True, description="it looks twice.")


class Outer(Settings):
    kind: Literal["a", "b"] = Field(default="a", description="Which.")
    limit: float | None = Field(default=None, gt=0, description="No more than this.")
    loud: bool = Field(default=False, description="Say more.")
    words: tuple[str, ...] = Field(default=(), description="With commas.")
    weights: Mapping[str, int] = Field(default_factory=dict, description="As a=3.")
    inner: Inner = Inner()


@pytest.fixture
def call() -> Callable[..., Outer]:
    """Run a verb with these words after it, and see what it was given."""
    given: list[Outer] = []
    app = Application(cls=Group)

    @app.command()
    @options_of(
        Outer, common=("kind",), names={"inner.careful": "careless"}, groups={"inner": "Inside"}
    )
    def verb(config: Outer) -> None:
        """Do it."""
        given.append(config)

    @app.command()
    def other() -> None:
        """With a second command the name of the first is needed."""

    def run(*words: str) -> Outer:
        result = CliRunner().invoke(app, ["verb", *words])
        if result.exception is not None:
            raise result.exception
        return given[-1]

    return run


def test_without_options_the_settings_are_those_of_the_class(call: Callable[..., Outer]) -> None:
    assert call() == Outer()


def test_each_kind_of_setting_has_its_option(call: Callable[..., Outer]) -> None:
    words = ["--kind", "b", "--limit", "0.5", "--loud", "--words", "x, y", "--weights", "p=3,q=1"]
    assert call(*words, "--size", "7", "--careless") == Outer(
        kind="b",
        limit=0.5,
        loud=True,
        words=("x", "y"),
        weights={"p": 3, "q": 1},
        inner=Inner(size=7, careful=False),
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--size", "0"], "verb: --size: input should be greater than or equal to 1, found 0"),
        (["--limit", "-1"], "verb: --limit: input should be greater than 0, found -1.0"),
        (["--weights", "p=x"], "verb: --weights: input should be a valid integer"),
        (["--weights", "p"], "--weights p: needs a value, as in p=3"),
    ],
)
def test_a_bad_value_is_reported_under_the_name_of_its_option(
    call: Callable[..., Outer], words: list[str], message: str
) -> None:
    with pytest.raises(UserError) as error:
        call(*words)
    assert str(error.value).startswith(message)


@pytest.mark.parametrize("settings", [TranslateConfig, Dials])
def test_every_setting_that_becomes_an_option_is_explained(settings: type[Settings]) -> None:
    paths = dict(leaves(settings))
    assert len(paths) > 10
    assert [path for path, field in paths.items() if not field.description] == []
