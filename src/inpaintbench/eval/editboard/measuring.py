"""What is measured of edited videos from a list: checked, scored and written as a transcript."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from inpaintbench.compute import Compute
from inpaintbench.errors import InputError
from inpaintbench.eval.editboard import files
from inpaintbench.eval.editboard.checking import Checked, Finding, check, needed
from inpaintbench.eval.editboard.manifest import Edit, plain
from inpaintbench.eval.editboard.media import look
from inpaintbench.eval.editboard.page import write_transcript
from inpaintbench.eval.editboard.scoring import Scored, cautions, fingerprint_of, score, settings_here
from inpaintbench.eval.editboard.transcript import Told, transcript_of
from inpaintbench.eval.protocols.base import Protocol
from inpaintbench.eval.report.tables import unmeasured_metrics
from inpaintbench.executors.base import Executor
from inpaintbench.models import torch_networks, weights
from inpaintbench.pages.words import count
from inpaintbench.types import Score

FOLDER = "transcript"


@dataclass(frozen=True)
class Measuring:
    """Which metrics are wanted, and how they are measured."""

    protocol: Protocol
    metrics: Sequence[str]
    compute: Compute
    side_pixels: int | None
    """All videos are squashed to squares of it; None = as they are."""
    seconds: float
    """For one edit."""

    @classmethod
    def of(
        cls, protocol: Protocol, metrics: Sequence[str] | None, compute: Compute, *, side_pixels: int | None, seconds: float
    ) -> Measuring:
        """All metrics of a protocol, or some.

        Raises:
            UnknownNameError: the protocol has no such metric. InputError: networks cannot run so here.
        """
        protocol.build_metrics(metrics)  # misspelt names are told before any work
        names = list(dict.fromkeys(metrics)) if metrics else list(protocol.metrics)
        if protocol.weights_of(names):
            torch_networks.check_device(compute)
        return cls(protocol, names, compute, side_pixels, seconds)

    def lacking(self) -> Iterator[str]:
        """A sentence on metrics that would have no value for want of weights, where there are such."""
        if self.compute.random_weights is not None:
            return
        missing = {
            metric: [name for name in self.protocol.weights_of([metric]) if weights.state(weights.named(name)) != "ready"]
            for metric in self.metrics
        }
        if lacking := [metric for metric, names in missing.items() if names]:
            names = " ".join(dict.fromkeys(name for metric in lacking for name in missing[metric]))
            yield f"Will have no value here: {', '.join(lacking)}; `inpaintbench models fetch {names}` brings what they need"

    def checked(self, executor: Executor, edits: Sequence[Edit], folder: Path) -> tuple[list[Checked], list[Finding]]:
        """The edits with what their files hold, and what is wrong or notable; ``folder`` is that of the list."""
        looked = look(executor, [path for edit in edits for path in needed(edit, self.metrics)], folder=folder)
        published = not self.protocol.name.endswith("corrected")
        return check(edits, looked, metrics=self.metrics, side_pixels=self.side_pixels, published=published)

    def score(self, executor: Executor, checked: Sequence[Checked]) -> Scored:
        """The scores of edits without a fault."""
        return score(
            executor, checked, protocol=self.protocol.name, metrics=self.metrics, compute=self.compute,
            side_pixels=self.side_pixels, time_limit_seconds=self.seconds,
        )  # fmt: skip

    def write(self, out: Path, title: str, folder: Path, checked: Sequence[Checked], rows: Sequence[Score]) -> Iterator[str]:
        """Write the transcript into ``out``, and say what came of it in sentences."""
        told = {(one.edit.model, one.edit.item_id): Told(one.edit.task, _source(one)) for one in checked}
        fingerprint = fingerprint_of(self.protocol, self.compute, side_pixels=self.side_pixels)
        settings = settings_here(self.protocol, self.metrics, self.compute, side_pixels=self.side_pixels)
        faulty = sum(one.fault is not None for one in checked)
        lost = f"{faulty} of {count(len(checked), 'edit')} could not be scored; they are told under what is missing."
        left_out = [lost] if faulty else []
        made = transcript_of(rows, told, title=title, notes=[*cautions(fingerprint), *left_out], settings=settings)
        edits = [plain(one.edit, folder) for one in sorted(checked, key=lambda one: (one.edit.model, one.edit.item_id))]
        more = {
            "edits.csv": files.edits_csv(edits, rows, made.metrics),
            "edits.json": files.edits_json(edits, rows, settings | {"protocol": made.protocol.name, "fingerprint": fingerprint}),
        }  # fmt: skip
        seed = self.compute.random_weights  # what made-up parameters say never takes the place of what is real
        page = write_transcript(out / (FOLDER if seed is None else f"{FOLDER}-random-weights-{seed}"), made, more=more)
        yield f"{len(rows)} scores under {made.protocol.name}, {sum(row.value is None for row in rows)} without a value"
        for reason, names in unmeasured_metrics(rows).items():
            yield f"not measured: {', '.join(names)}: {reason}"
        yield from cautions(fingerprint)
        yield f"Transcript: {page.resolve()}"


def keep_apart(out: Path, edits: Sequence[Edit]) -> None:
    """Raise ``InputError`` where ``out`` lies in a folder of frames."""
    target = out.absolute().resolve()
    for path in {path for edit in edits for path in (edit.original, edit.edited, edit.mask) if path is not None}:
        if path.is_dir() and target.is_relative_to(path.resolve()):
            raise InputError(f"--out {str(out)!r} lies in the folder of frames {str(path)!r}, where nothing is to be written")


def _source(one: Checked) -> str:
    return (one.original or one.edited).digest or str(one.edit.original or one.edit.edited)
