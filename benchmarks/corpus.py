"""Speed and memory of text and corpus: BPE, iterating over batches, opening a store.

    python benchmarks/corpus.py [--sentences 1000000]

Figures are ratios within one run. Text is drawn from a Zipf-like vocabulary of made-up words, so
that nothing needs to be downloaded; `--text FILE` uses the lines of a tokenised file instead.
"""

import argparse
import io
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np

TRAINING_TOKENS = 6_170  # target tokens/s: what training a small model could reach here at best


def made_up_sentences(count: int, rng: np.random.Generator) -> list[str]:
    """Sentences of Zipf-distributed words, 8.6 on average as in the paper's En-Ru corpus."""
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    words = ["".join(rng.choice(letters, size=rng.integers(2, 11))) for _ in range(40_000)]
    lengths = np.clip(rng.normal(8.6, 4.9, size=count).round().astype(int), 1, 60)
    ranks = np.minimum(rng.zipf(1.25, size=int(lengths.sum())) - 1, len(words) - 1)
    flat = [words[i] for i in ranks]
    ends = np.cumsum(lengths)
    return [" ".join(flat[end - n : end]) for end, n in zip(ends, lengths, strict=True)]


def seconds(work: Callable[[], object]) -> float:
    """CPU time of one call: other programs on the machine do not count."""
    start = time.process_time()
    work()
    return time.process_time() - start


def measure_bpe(sentences: list[str], rounds: int = 5) -> None:
    """Ours against subword-nmt, interleaved, both starting without remembered words."""
    from subword_nmt.apply_bpe import BPE

    from concatmt.text.bpe import Segmenter, learn_merges

    merges = learn_merges(Counter(word for s in sentences for word in s.split()), 8000)
    codes = "#version: 0.2\n" + "".join(f"{left} {right}\n" for left, right in merges)
    ratios, speeds = [], []
    for _ in range(rounds):
        ours, theirs = Segmenter(merges), BPE(io.StringIO(codes))
        mine = seconds(
            lambda ours=ours: [  # type: ignore[misc]
                " ".join([p for word in s.split() for p in ours.segment(word)]) for s in sentences
            ]
        )
        peer = seconds(lambda theirs=theirs: [theirs.process_line(s) for s in sentences])  # type: ignore[misc]
        ratios.append(peer / mine)
        speeds.append(len(sentences) / mine)
    print(
        f"BPE: {statistics.median(ratios):.1f} times subword-nmt"
        f" ({statistics.median(speeds):,.0f} sentences/s; median of {rounds})"
    )


def write_store(folder: Path, sentences: list[str]) -> None:
    """A store of one split from sentences, ten to a document, the target being the source."""
    from concatmt.corpus.prepare import CorpusConfig, prepare
    from concatmt.settings import parse_settings
    from concatmt.text.pipeline import TextSettings

    (folder / "text.en").write_text("".join(f"{sentence}\n" for sentence in sentences))
    reader = {"format": "lines", "source": "text.en", "target": "text.en", "size": 10}
    config = parse_settings(CorpusConfig, {"root": folder, "splits": {"train": [reader]}}, "-")
    text = {"languages": {"target": "en"}, "text": {"kind": "whitespace", "vocabulary": "joint"}}
    prepare(config, parse_settings(TextSettings, text, "-"), folder / "store")


def in_own_process(task: str, store: Path) -> dict[str, float]:
    """Run a task below in a fresh interpreter."""
    command = [sys.executable, __file__, "--task", task, "--store", str(store)]
    return dict(json.loads(subprocess.run(command, capture_output=True, check=True).stdout))


def iterate(store: Path) -> dict[str, float]:
    """One epoch of batches: target tokens per second, and memory above the interpreter's."""
    import psutil

    from concatmt.corpus.batches import BatchConfig, BatchStream
    from concatmt.corpus.store import Store
    from concatmt.corpus.windows import Windows

    process = psutil.Process()
    before = process.memory_info().rss
    start = time.perf_counter()
    windows = Windows.of(Store.open(store).split("train"), 4)
    stream = BatchStream(windows, BatchConfig(tokens=4096), seed=1)
    tokens = padded = 0
    peak = before
    for batch in stream.epoch_batches():
        tokens += batch.target.token_count
        padded += batch.target.tokens.numel()
        peak = max(peak, process.memory_info().rss)
    elapsed = time.perf_counter() - start
    return {
        "tokens": tokens,
        "speed": tokens / elapsed,
        "padding": 1 - tokens / padded,
        "memory": (peak - before) / 1e6,
        "mapped": sum(f.stat().st_size for f in (store / "train").iterdir()) / 1e6,
    }


def open_store(store: Path) -> dict[str, float]:
    """Seconds to open a store, the imports not counted."""
    from concatmt.corpus.store import Store

    start = time.perf_counter()
    Store.open(store)
    return {"seconds": time.perf_counter() - start}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sentences", type=int, default=1_000_000)
    parser.add_argument("--text", type=Path)
    parser.add_argument("--task", choices=["iterate", "open"])
    parser.add_argument("--store", type=Path)
    options = parser.parse_args()
    if options.task:
        result = iterate(options.store) if options.task == "iterate" else open_store(options.store)
        print(json.dumps(result))
        return
    rng = np.random.default_rng(1)
    sentences = made_up_sentences(options.sentences, rng)
    sample = options.text.read_text().splitlines() if options.text else sentences
    measure_bpe(sample[:50_000])
    with tempfile.TemporaryDirectory() as folder:
        write_store(Path(folder), sentences)
        store = Path(folder) / "store"
        done = in_own_process("iterate", store)
        print(
            f"batches: {done['speed']:,.0f} target tokens/s, {done['speed'] / TRAINING_TOKENS:.0f}"
            f" times the fastest training; padding {done['padding']:.1%}; {done['memory']:.0f} MB"
            f" above the interpreter's, of which up to {done['mapped']:.0f} MB mapped files"
        )
        opening = statistics.median(in_own_process("open", store)["seconds"] for _ in range(5))
        size = sum(f.stat().st_size for f in store.rglob("*") if f.is_file()) / 1e6
        print(f"open: {opening:.3f} s for a store of {size:,.0f} MB ({len(sentences):,} sentences)")


if __name__ == "__main__":
    main()
