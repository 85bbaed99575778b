"""Reports a run to the user: a live line or log, metrics.jsonl, trackers, curves."""

import sys
import time
from contextlib import suppress
from typing import Any

from concatmt.training.config import TrainingConfig
from concatmt.training.objective import Totals
from concatmt.training.run import METRICS, Run
from concatmt.training.trackers import Ending, Trackers
from concatmt.training.validation import Measured

MARKED: dict[str, Any] = {"marker": "o", "markersize": 3}


class Reporter:
    """Reports from the first process; the others are silent."""

    def __init__(self, run: Run, config: TrainingConfig, speaks: bool) -> None:
        self.run, self.config, self.speaks = run, config, speaks
        self.trackers = Trackers(run, config.track if speaks else ())
        self.window = Totals()  # since the last line of the metrics
        self.started = self.line_time = time.monotonic()
        self.updates = 0  # since this process started
        self.log_time = 0.0
        self.losing = False  # the last line of the metrics could not be written
        starts = (r for r in run.metrics() if r.get("kind") == "start") if speaks else iter(())
        self.alone_at_start: float | None = next(starts, {}).get("alone")

    def say(self, text: str) -> None:
        """Print a line that stays."""
        if self.speaks:
            _print(f"{self._clear()}{text}\n")

    def warn(self, text: str) -> None:
        """Print a warning; training continues."""
        self.say(f"warning: {text}")

    def update(self, update: int, totals: Totals, rate: float, norm: float, place: str) -> None:
        """Report an update; `place` says where in the epoch."""
        self.window.add(totals)
        self.updates += 1
        now = time.monotonic()
        late = now - self.line_time >= self.config.log_seconds
        if not self.speaks or (update % self.config.log_every and not late):
            return
        window, seconds = self.window, max(now - self.line_time, 1e-9)
        self.window, self.line_time = Totals(), now
        record = {
            "update": update,
            "loss": window.discounted,
            "current": window.current,
            "context": window.context,
            "rate": rate,
            "norm": norm,
            "tokens_per_second": window.real_tokens / seconds,
            "padding": 1 - window.real_tokens / max(window.padded_tokens, 1.0),
        }
        self._record("train", record)
        line = (
            f"{place}, update {update:,}: {self._loss()} {window.current:.3f} current"
            f" {window.context:.3f} context, {record['tokens_per_second']:,.0f} tokens/s,"
            f" {record['padding']:.1%} padding, rate {rate:.2e}{self._time_left(update)}"
        )
        self._show(line, now)

    def validation(self, update: int, measured: Measured, best: bool) -> None:
        """Report a validation; update 0 means a pretrained model before training."""
        totals = measured.windows
        record = {
            "update": update,
            "discounted": totals.discounted,
            "undiscounted": totals.undiscounted,
            "current": totals.current,
            "context": totals.context,
            "current_nll": totals.current_nll / max(totals.current_tokens, 1.0),
            "seconds": time.monotonic() - self.started,
        }
        alone = "" if measured.alone is None else self._alone(measured.alone.current)
        if measured.alone is not None:
            record["alone"] = measured.alone.current
            if not update:
                self.alone_at_start = measured.alone.current
        if measured.samples is not None:
            record |= {"bleu": measured.samples.bleu, "chrf": measured.samples.chrf}
        if self.speaks:
            self._record("valid" if update else "start", record)
        mark = " (best)" if best else ""
        place = f"validation at update {update:,}" if update else "before training"
        self.say(
            f"{place}: {self._loss()}, {self.config.stop_metric},"
            f" {record[self.config.stop_metric]:.4f}{mark}, current {totals.current:.4f},"
            f" context {totals.context:.4f}{alone}; NLL, current, {record['current_nll']:.4f}"
        )
        if measured.samples is not None:
            for line in measured.samples.lines():
                self.say(line)
        self.line_time = time.monotonic()

    def _alone(self, loss: float) -> str:
        """The loss of current sentences without context; a rise since the start is forgetting."""
        start = self.alone_at_start
        since = "" if start is None or start == loss else f" ({loss - start:+.4f} since the start)"
        return f", without context {loss:.4f}{since}"

    def _loss(self) -> str:
        return loss_name(self.config.loss.label_smoothing)

    def _time_left(self, update: int) -> str:
        if self.config.max_updates is None:
            return ""
        pace = (time.monotonic() - self.started) / self.updates
        left = max(0.0, (self.config.max_updates - update) * pace)
        return f", at most {int(left) // 60}:{int(left) % 60:02d} left"

    def _record(self, kind: str, record: dict[str, Any]) -> None:
        try:
            self.run.append({"kind": kind, **record})
            self.losing = False
        except OSError as error:
            # A full disk must not end a run of days because of one line.
            if not self.losing:
                where = error.filename or self.run.folder / METRICS
                self.warn(f"{where}: {error.strerror or error}; training goes on without metrics")
            self.losing = True
        values = {name: value for name, value in record.items() if name != "update"}
        for problem in self.trackers.record(kind, record["update"], values):
            self.warn(problem)

    def close(self, ending: Ending) -> None:
        """Report that training has ended, for now or for good."""
        for problem in self.trackers.close(ending):
            self.warn(problem)

    def _show(self, line: str, now: float) -> None:
        if sys.stderr.isatty():
            _print(f"{self._clear()}{line}")
        elif now - self.log_time >= self.config.log_seconds:
            self.log_time = now
            _print(f"{line}\n")

    def _clear(self) -> str:
        return "\r\x1b[2K" if sys.stderr.isatty() else ""


def _print(text: str) -> None:
    with suppress(OSError):  # a log on a full disk, or a terminal that was closed
        print(text, end="", file=sys.stderr, flush=True)


def loss_name(smoothing: float) -> str:
    """The name of the training loss; evaluation uses NLL, without smoothing."""
    return f"label-smoothed ({smoothing:g}) loss" if smoothing else "loss (NLL)"


def draw_curves(run: Run) -> bool:
    """Draw the learning curves into curves.svg; False where matplotlib is not installed."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return False
    records = run.metrics()
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    for kind in ("train", "valid"):
        style = MARKED if kind == "valid" else {"alpha": 0.5}
        for part, colour in (("current", "C0"), ("context", "C1"), ("alone", "C2")):
            if points := _points(records, kind, part):
                name = "without context" if part == "alone" else part
                axes.plot(*points, color=colour, label=f"{kind}, {name}", **style)
    axes.set_xlabel("updates")
    axes.set_ylabel(f"{loss_name(_smoothing(run))}, nats a token")
    axes.legend()
    if points := _points(records, "valid", "bleu"):
        right = axes.twinx()
        right.plot(*points, color="C3", label="BLEU of the samples", **MARKED)
        if points := _points(records, "valid", "chrf"):
            right.plot(*points, color="C4", label="chrF of the samples", **MARKED)
        right.set_ylabel("BLEU, chrF of the samples")
        right.legend(loc="center right")
    # Draw beside the place first, so that whatever is there, even a pipe, is replaced.
    drawing = run.folder / "curves.svg.tmp"
    drawing.unlink(missing_ok=True)
    try:
        figure.savefig(drawing, format="svg", metadata={"Date": None})
        drawing.replace(run.folder / "curves.svg")
    finally:
        drawing.unlink(missing_ok=True)  # if a folder is in its place
    return True


def _points(
    records: list[dict[str, Any]], kind: str, part: str
) -> tuple[list[int], list[float]] | None:
    """Updates and values; the validation before training comes first."""
    kinds = ("start", "valid") if kind == "valid" else (kind,)
    points = [(r["update"], r[part]) for r in records if r["kind"] in kinds and r.get(part)]
    return tuple(map(list, zip(*points, strict=True))) if points else None  # type: ignore[return-value]


def _smoothing(run: Run) -> float:
    value = run.description()["settings"]["training"]["loss"]["label_smoothing"]
    return float(value)
