"""A workspace of small grey clips with made-up measurements, for deciding over them."""

from __future__ import annotations

import json

import numpy as np

from inpaintbench import video
from inpaintbench.curation.judging import select_clips
from inpaintbench.curation.rules import Rule
from inpaintbench.executors.base import Rejection
from inpaintbench.types import Answer, Attribute, Clip, Corruption, Download, Item, Selection, Slice, Source
from inpaintbench.workspace import Workspace

EVIL = "<script>alert('x')</script>"
RULES = (
    Rule(attribute="cut_score", at_most=0.5, name=f"calm {EVIL}"),
    Rule(attribute="crispness", at_least=0.25),
    Rule(answer="keep_reject", none_of=("reject",)),
)


def fill(workspace: Workspace, *, count: int = 12) -> Workspace:
    """``count`` clips of two a source; cut scores rise from 0 to below 1, crispness falls, and half of them have answers."""
    clips = [_clip(workspace, n, count) for n in range(count)]
    licences = ["CC0", EVIL, None]
    sources = [
        Source(f"s{n:02}", f"folder/video%20{n}.mp4", f"{n:02}" * 32, 1000, "folder", licences[n % 3], "Ana")
        for n in range(count // 2)
    ]
    listed = [
        Download(f"video {n}.mp4", "folder", f"https://example.org/{n}", None, "obtained", None, 200, 1, 1000, row.sha256,
                 None, None, None, "2025-01-01T00:00:00Z", licence=row.licence, page_url=f"https://example.org/page/{n}",
                 details={"uploaded": f"{2015 + n}-03-01"})
        for n, row in enumerate(sources)
    ]  # fmt: skip
    gone = [Download(f"g{n}", "listing", "u", None, "gone", f"HTTP {400 + n}", 404, 1, *(None,) * 6) for n in range(3)]
    workspace.write_table("sources", "find.folder", sources, Source)
    workspace.write_table("downloads", "fetch.listing", [*listed, *gone], Download)
    workspace.write_table("clips", "cut", clips, Clip)
    facts = {
        "cut_score": [None if n == 3 else n / count for n in range(count)],
        "crispness": [1 - n / count for n in range(count)],
        "kind": [f"kind {EVIL}" if n % 4 else "plain" for n in range(count)],
    }
    for name, values in facts.items():
        rows = [
            Attribute(clip.clip_id, name, value, "too dark" if value is None else None, name, "1")
            for clip, value in zip(clips, values, strict=True)
        ]
        workspace.write_table("attributes", f"measure.{name}", rows, Attribute)
    probed = [Attribute(row.source_id, "probe.frames", 20.0, None, "probe", "1") for row in sources[:-1]]
    copies = [Attribute("c05", "duplicate_of", "c00", None, "duplicate_of", "1")]
    workspace.write_table("attributes", "probe", [*probed, *copies], Attribute)
    answers = [Answer(f"c{n:02}", "keep_reject", "reject" if n > 4 else "keep", None, 3, 1.0) for n in range(0, count, 2)]
    workspace.write_table("answers", "import", answers, Answer)
    refused = [Rejection(f"x{n}", "probe", f"bad/{EVIL}{n}.mp4", f"not one of {n} frames decodes") for n in range(4)]
    workspace.write_table("rejected", "probe", refused, Rejection)
    _finish(workspace)
    return workspace


def _clip(workspace: Workspace, n: int, count: int) -> Clip:
    frames = np.full((10, 24, 40, 3), 255 * n // count, np.uint8)
    blob, _ = workspace.blobs.put(".mp4", lambda path: video.write_lossless(path, frames, fps=30.0))
    start = 10 * (n % 2)
    return Clip(f"c{n:02}", f"s{n // 2:02}", start, start + 10, 30.0, 40, 24, 10, blob, f"y{n}", f"r{n}", None, 50.0)


def _finish(workspace: Workspace) -> None:
    """Rules applied, items made, times noted."""
    select_clips(workspace, RULES)
    corruption = Corruption("k00", "c00", "devil_blobs", {}, 0, None, None, None)
    workspace.write_table("corruptions", "render", [corruption], Corruption)
    workspace.write_table("items", "pair", [Item("i00", "c00", "k00"), Item("i01", "c00", "k00")], Item)
    workspace.write_table("slices", "pair", [Slice("motion-low", "r", ("i00",)), Slice("motion-high", "r", ("i01",))], Slice)
    ledger = workspace.ledger("measure.cut_score")
    for n in range(12):
        timed = {} if n == 11 else {"seconds": n / 2, "peak_mebibytes": 100.0 + n}
        ledger.append({"key": f"k{n}", "status": "done", **timed}, json.dumps([{"subject_id": f"c{n:02}"}]))
    ledger.close()
    (workspace.path / "ledger" / "old.jsonl").write_text(json.dumps({"key": "a", "status": "rejected", "reason": "r"}) + "\n")


def kept_ids(workspace: Workspace) -> set[str]:
    """Clips that no row of the table ``selection`` drops."""
    rows = workspace.table("selection", Selection)
    return {row.clip_id for row in rows} - {row.clip_id for row in rows if not row.keep}
