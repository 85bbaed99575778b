"""Draws the encodings: their matrices over a window, and the paper's PCA of the sinusoid.

Computes the numbers without matplotlib; draws them with it. Does not know models or data.
"""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from concatmt.corpus.batch import side_from_lists
from concatmt.errors import UserError
from concatmt.files import atomic_file
from concatmt.model.encodings import (
    ENCODINGS,
    FIRST_POSITION,
    EncodingConfig,
    EncodingSizes,
    build_encoding,
    sinusoid,
)

Floats = npt.NDArray[np.float64]

POSITIONS, DIM = 1024, 512  # of the paper's figure
FORMATS = (".png", ".svg", ".pdf")
# The window in the pictures: four sentences of these many words, in a model of 32 dimensions.
WORDS = (8, 5, 10, 7)
PICTURE_DIM = 32
PICTURE_SHIFT = 8


def explained_variance() -> Floats:
    """(512,) share of the variance that the first principal components explain together.

    Of the sinusoidal matrix PE in R^{1024 x 512} (section 2.3 of the paper).
    """
    matrix = sinusoid(torch.arange(POSITIONS), DIM).double().numpy()
    singular = np.linalg.svd(matrix - matrix.mean(axis=0), compute_uv=False)
    variance = singular**2
    cumulative: Floats = np.cumsum(variance) / variance.sum()
    return cumulative


def components_for(share: float) -> int:
    """How many principal components explain at least `share` of the variance."""
    return int(np.searchsorted(explained_variance(), share)) + 1


def draw_pca(path: Path) -> None:
    """The cumulative explained variance by number of components."""
    shares = explained_variance()
    enough = components_for(0.9999)
    figure = _new_figure(path, width=5.0, height=3.2)
    axes = figure.subplots()
    axes.plot(np.arange(1, DIM + 1), shares, color="tab:blue")
    axes.axvline(enough, color="tab:red", linestyle="--", linewidth=1)
    axes.axvline(DIM / 2, color="0.6", linestyle=":", linewidth=1)
    axes.annotate(f"{enough} components: 99.99%", (enough + 8, 0.35), color="tab:red")
    axes.annotate("half of them", (DIM / 2 + 8, 0.1), color="0.4")
    axes.set(xlabel="principal components", ylabel="explained variance", ylim=(0, 1.03))
    axes.set_title("PCA of 1024 sinusoidal positions in 512 dimensions", fontsize=10)
    _save(figure, path)


def encoding_matrix(kind: str, fusion: str) -> tuple[Floats, list[int]]:
    """(T, 32) the vectors that an encoding adds to the tokens of the window; k of every token."""
    torch.manual_seed(0)
    config = EncodingConfig.model_validate({"kind": kind, "fusion": fusion})
    encoding = build_encoding(config, EncodingSizes(PICTURE_DIM, len(WORDS), PICTURE_SHIFT))
    segments = side_from_lists([[[0] * words for words in WORDS]]).segments
    t = torch.arange(segments.shape[1])[None] + FIRST_POSITION
    with torch.no_grad():
        vectors = encoding(t, segments, torch.tensor([[len(WORDS)]])).input
    if vectors is None:
        raise UserError(f"encoding {kind!r} adds nothing to tokens: there are no vectors to draw")
    return vectors[0].double().numpy(), segments[0].tolist()


def kinds_to_draw() -> list[str]:
    """The encodings that only add vectors, which a picture can show."""
    return [kind for kind, encoding in ENCODINGS.items() if not encoding.rotates | encoding.biases]


def draw_encoding(kind: str, path: Path) -> None:
    """The matrix of an encoding over a window of four sentences; beside it, PSE if it has one."""
    fusions = ["add", "pse"] if ENCODINGS[kind].has_segments else ["add"]
    figure = _new_figure(path, width=3.6 * len(fusions), height=3.4)
    panels = figure.subplots(1, len(fusions), squeeze=False)[0]
    for axes, fusion in zip(panels, fusions, strict=True):
        matrix, segments = encoding_matrix(kind, fusion)
        image = axes.imshow(matrix, cmap="RdBu_r", vmin=-2, vmax=2, aspect="auto")
        _mark_sentences(axes, segments)
        if fusion == "pse":
            axes.axvline(PICTURE_DIM - 4 - 0.5, color="k", linewidth=0.8, linestyle="--")
        axes.set_title(kind if len(fusions) == 1 else f"{kind}, {fusion}", fontsize=10)
        axes.set_xlabel("dimension")
    figure.colorbar(image, ax=panels.tolist(), shrink=0.8)
    _save(figure, path)


def _mark_sentences(axes: Any, segments: list[int]) -> None:
    """Lines between the sentences of a window, and their k at the left."""
    starts = [i for i, k in enumerate(segments) if i == 0 or segments[i - 1] != k]
    ends = [*starts[1:], len(segments)]
    for start in starts[1:]:
        axes.axhline(start - 0.5, color="k", linewidth=0.8)
    middles = [(a + b - 1) / 2 for a, b in zip(starts, ends, strict=True)]
    axes.set_yticks(middles, [f"k = {segments[start]}" for start in starts])


def _new_figure(path: Path, width: float, height: float) -> Any:
    if path.suffix not in FORMATS:
        raise UserError(f"{path}: cannot draw {path.suffix or 'that'}; use {', '.join(FORMATS)}")
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError as error:
        raise UserError(
            "figures need matplotlib: install it with pip install 'concatmt[plots]'"
        ) from error
    matplotlib.rcParams["svg.hashsalt"] = "concatmt"  # makes files reproducible
    return Figure(figsize=(width, height), layout="constrained", dpi=90)


def _save(figure: Any, path: Path) -> None:
    metadata = {"Date": None} if path.suffix == ".svg" else None
    with atomic_file(path) as temporary:
        figure.savefig(temporary, format=path.suffix[1:], metadata=metadata)
