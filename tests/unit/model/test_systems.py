"""Names of systems: the paper's notation in and out, and all systems of its tables."""

import json

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from concatmt.errors import UserError
from concatmt.model.config import Architecture, ModelConfig, StackConfig, check_window
from concatmt.model.encodings import ENCODINGS, EncodingConfig, PositionEncoding, register
from concatmt.model.loss import LossConfig, discount_weights, window_loss
from concatmt.model.systems import parse_system, system_name
from concatmt.model.transformer import Transformer
from tests.unit.model.golden import shared_folder
from tests.unit.model.small_models import VOCABULARY, random_batch

SEGMENTS = ["1hot", "sin", "lrn"]
# Table 1 and appendices E and F (En-Ru), table 3 and appendix C (En-De); shifts of appendix B.
RUSSIAN = [
    "base", "s4to4", "s4to4+cd", "s4to4+pers", "s4to4+cd+pers",
    "s4to4+shift8", "s4to4+shift8+pers", "s4to4+cd+shift8", "s4to4+cd+shift8+pers",
    *(f"s4to4+{e}{form}" for e in SEGMENTS for form in ("", "+pers", "+pse", "+pers+pse")),
    *(f"s4to4+cd+{e}{form}" for e in SEGMENTS for form in ("", "+pers", "+pers+pse")),
    "s4to4+cd+lrn+pse128", "s4to4+cd+lrn+pers+pse128",
]  # fmt: skip
GERMAN = [
    "base", "s4to4", "s4to4+cd", "s4to4+cd+shift21", "s4to4+cd+shift21+pers",
    *(f"s4to4+cd+{e}{form}" for e in SEGMENTS[1:] for form in ("", "+pers", "+pers+pse")),
]  # fmt: skip

HIGH_RESOURCE = [
    "base", "s4to4", "s4to4+cd", "s4to4+cd+shift27+pers", "s4to4+cd+lrn+pers",
    "s4to4+cd+sin+pers+pse",
]  # fmt: skip


def paper_systems() -> set[tuple[str, str]]:
    """(setting, name) of every row of the paper's tables."""
    tables = json.loads((shared_folder() / "paper" / "tables.json").read_text(encoding="utf-8"))
    shifts = {"en-ru": 8, "iwslt17": 21, "high-resource": 27}
    systems = set()
    for title, table in tables.items():
        for row in table["rows"]:
            if "encoding" not in row:
                continue
            setting = "high-resource" if "high" in title + row.get("setting", "") else "iwslt17"
            setting = "en-ru" if title.startswith("en-ru") else setting
            parts = [row["system"], *(["cd"] if row["context_discount"] else [])]
            if encoding := row["encoding"]:
                parts.append(encoding + (str(shifts[setting]) if encoding == "shift" else ""))
            parts += ["pers"] if row["persistent"] else []
            dim = row["pse_dim"]
            parts += [f"pse{dim}" if dim != 4 else "pse"] if dim else []
            systems.add((setting, "+".join(parts)))
    return systems


def test_the_papers_tables_have_49_systems_and_their_names_print_back() -> None:
    systems = paper_systems()
    assert len(systems) == 49
    assert {name for setting, name in systems if setting == "en-ru"} == set(RUSSIAN)
    assert {name for setting, name in systems if setting == "iwslt17"} == set(GERMAN)
    assert {name for setting, name in systems if setting == "high-resource"} == set(HIGH_RESOURCE)
    for _, name in systems:
        assert system_name(parse_system(name)) == name


def small_model(name: str) -> Transformer:
    torch.manual_seed(0)
    stack = StackConfig(layers=2, heads=2, feed_forward=32)
    return Transformer(
        ModelConfig(
            architecture=Architecture(dim=144, encoder=stack, decoder=stack, dropout=0.0),
            system=parse_system(name),
            source_vocabulary=VOCABULARY,
            target_vocabulary=VOCABULARY,
        )
    )


@pytest.mark.parametrize("name", sorted({*RUSSIAN, *GERMAN, *HIGH_RESOURCE}))
def test_every_system_of_the_paper_trains(name: str) -> None:
    """Finite from the first step on, and falling on a batch that it overfits."""
    model = small_model(name)
    batch = random_batch(model, rows=4)
    weights = discount_weights(batch.target, model.config.system.context_discount)
    optimiser = torch.optim.Adam(model.parameters(), lr=2e-3)
    losses = []
    for _ in range(12):
        optimiser.zero_grad()
        loss = window_loss(model(batch), model.output.weight, batch.target, weights, LossConfig())
        loss.mean.backward()
        optimiser.step()
        losses.append(float(loss.mean.detach()))
    assert torch.tensor(losses).isfinite().all()
    assert losses[-1] < 0.8 * losses[0]


@given(
    st.integers(1, 6),
    st.sampled_from([1.0, 0.01, 0.1, 0.0, 0.005]),
    st.sampled_from(["", "shift", "shift21", "1hot", "sin", "lrn"]),
    st.booleans(),
    st.sampled_from(["", "pse6", "pse128"]),
)
def test_a_configuration_prints_a_name_that_parses_to_it(
    k: int, discount: float, encoding: str, persistent: bool, pse: str
) -> None:
    parts = ["base" if k == 1 else f"s{k}to{k}"]
    parts += [f"cd{discount}"] if discount != 1 and k > 1 else []
    parts += [encoding] if encoding else []
    parts += ["pers"] if persistent else []
    parts += [pse] if pse and encoding in SEGMENTS else []
    system = parse_system("+".join(parts))
    assert parse_system(system_name(system)) == system
    assert parse_system("+".join([parts[0], *reversed(parts[1:])])) == system


@pytest.mark.parametrize(
    ("name", "canonical"),
    [
        ("s1to1", "base"),
        ("S4to4+CD", "s4to4+cd"),
        ("s4to4+cd0.01", "s4to4+cd"),
        ("s4to4+cd1", "s4to4"),
        ("s4to4+pse4+1hot+cd+pers", "s4to4+cd+1hot+pers+pse"),
        ("s4to4+cd0.1+shift21", "s4to4+cd0.1+shift21"),
    ],
)
def test_a_name_has_one_canonical_form(name: str, canonical: str) -> None:
    assert system_name(parse_system(name)) == canonical


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("s4to4+shift+pse", "no segment vectors"),
        ("s4to4+pse", "no segment vectors"),
        ("s6to6+1hot+pse", "use pse6"),
        ("s4to4+1hot+pse2", "do not fit into pse2"),
        ("s4to3", "write s4to4"),
        ("transformer", "write base or sKtoK"),
        ("s0to0", "write base or sKtoK"),
        ("s4to4+1hott", "did you mean '1hot'"),
        ("s4to4+rotational", "parts are cd"),
        ("s4to4+rope+pers", "leave out pers"),
        ("s4to4+sync+pse", "no segment vectors"),
        ("s4to4+lrn+sin", "keep one of them"),
        ("s4to4+cd+cd0.1", "keep one of them"),
        ("s4to4+pers2", "takes no number"),
        ("s4to4+shift2.5", "takes no number"),
        ("s4to4+sin4", "takes no number"),
        ("s4to4+lrn+pse0", "greater than or equal to 1"),
        ("base+cd", "no context to discount"),
        ("s4to4+", "unknown part"),
        ("", "write base or sKtoK"),
    ],
)
def test_an_impossible_name_is_reported_in_one_line(name: str, reason: str) -> None:
    with pytest.raises(UserError, match="system") as error:
        parse_system(name)
    assert reason in str(error.value)


def config(system: str, **settings: object) -> ModelConfig:
    tree = {
        "system": parse_system(system),
        "source_vocabulary": 9,
        "target_vocabulary": 9,
        **settings,
    }
    return ModelConfig.model_validate(tree)


@pytest.mark.parametrize(("length", "shift"), [(8.3, 8), (20.8, 21), (27.3, 27)])
def test_the_default_shift_is_the_rounded_average_sentence_length(
    length: float, shift: int
) -> None:
    """The paper's three corpora (its table of statistics) and its three shifts."""
    assert config("s4to4+shift", sentence_length=length).shift == shift
    assert config("s4to4+shift5", sentence_length=length).shift == 5


ONE_HEAD = {"encoder": {"heads": 1}, "decoder": {"heads": 1}}


@pytest.mark.parametrize(
    ("system", "settings", "reason"),
    [
        ("s4to4+shift", {}, "needs sentence_length"),
        ("s4to4+lrn+pse512", {}, "no dimensions for positions"),
        ("s4to4", {"target_vocabulary": 8}, "one vocabulary"),
        ("s4to4+1hot", {"architecture": {"dim": 2, **ONE_HEAD}},
         "do not fit into a model of 2"),
        ("s4to4", {"architecture": {"dim": 500}}, "cannot be split over 8 encoder heads"),
    ],
)  # fmt: skip
def test_an_impossible_model_is_refused(
    system: str, settings: dict[str, object], reason: str
) -> None:
    with pytest.raises(ValueError, match=reason):
        config(system, **settings)


def test_options_of_another_encoding_are_refused() -> None:
    for settings in (
        {"shift": 8},
        {"kind": "onehot", "shift": 8},
        {"segment_dim": 8},
        {"kind": "x"},
    ):
        with pytest.raises(ValueError, match=r"option of|unknown encoding"):
            EncodingConfig.model_validate(settings)


def test_windows_larger_than_the_model_was_made_for_are_refused() -> None:
    check_window(config("s4to4+lrn"), 4)
    with pytest.raises(UserError, match="at most 4"):
        check_window(config("s4to4+lrn"), 5)


class Parity(PositionEncoding):
    """Positions, and whether the segment is even."""

    kind = "parity"
    notation = "par"


@pytest.fixture
def parity(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in ("parity", "other"):
        monkeypatch.setitem(ENCODINGS, kind, PositionEncoding)
        del ENCODINGS[kind]  # what is registered now goes when the test ends
    register(Parity)


@pytest.mark.usefixtures("parity")
def test_a_registered_encoding_is_a_part_of_systems_names() -> None:
    system = parse_system("s4to4+cd+par+pers")
    assert system.encoding.kind == "parity"
    assert system_name(system) == "s4to4+cd+par+pers"


@pytest.mark.usefixtures("parity")
@pytest.mark.parametrize(
    ("kind", "notation"),
    [("parity", "other"), ("other", "par"), ("other", "cd"), ("other", "A-1"), ("other", None)],
)
def test_a_name_that_is_taken_or_impossible_cannot_be_registered(
    kind: str, notation: str | None
) -> None:
    other = type("Other", (PositionEncoding,), {"kind": kind, "notation": notation})
    with pytest.raises(UserError, match="encoding"):
        register(other)
