"""From footage to clips: the steps find, probe and cut, and what they did to each clip. The functions run in worker processes."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from inpaintbench import video
from inpaintbench.curation import bars
from inpaintbench.curation.bars import Bars, Image
from inpaintbench.curation.normalizers import NORMALIZERS
from inpaintbench.curation.normalizers.base import Normalizer
from inpaintbench.curation.sources import SOURCES
from inpaintbench.curation.sources.base import (
    PARTS,
    Footage,
    SourceLeaf,
    in_parts,
    local_file,
    media_of,
    open_path,
    parts_by_footage,
    shared_parts,
    stated_sha256,
)
from inpaintbench.curation.splitters import SPLITTERS
from inpaintbench.curation.splitters.base import Splitter
from inpaintbench.errors import InpaintBenchError, MediaError, Rejected
from inpaintbench.executors.base import Executor, Outcome, Rejection, Step, Task
from inpaintbench.files import file_sha256
from inpaintbench.lazily import lazily
from inpaintbench.steps import KNOWN
from inpaintbench.types import Attribute, Clip, Plain, Source, canonical_json, content_id, stated
from inpaintbench.workspace import Blobs, Workspace

shots = lazily("inpaintbench.curation.splitters.shots")

VERSION = "4"
CUT_VERSION = "5"
# Attribute of a source: how many cuts, fades and dissolves it has, and in its blob where they are.
TRANSITIONS, TRANSITIONS_VERSION = "probe.transitions", "2"
INDEX_VERSION = "1"
FIND_LIMIT_SECONDS = 3600.0
# How the reason of a copy begins.
SAME_BYTES = "has the same bytes as"
_SLOWEST_BYTES_A_SECOND = 200_000
# Seconds of cutting a second of film: 1080p is encoded at a few frames a second. Films have at least so many bytes a second.
_SLOWEST_CUT, _FEWEST_BYTES_A_SECOND = 20.0, 50_000


def time_limit(longest_seconds: float) -> float:
    """Seconds granted to a task that should take ``longest_seconds`` on a slow machine: long films need more than short ones."""
    return 900.0 + longest_seconds


def find(
    executor: Executor, leaf: SourceLeaf, *, constants: Plain, label: str = "", by_index: bool = False
) -> tuple[list[Footage], Outcome]:
    """Hash everything a source leaf offers into the table ``sources``.

    Args:
        executor: who does the work.
        leaf: the source leaf.
        constants: the leaf's constructor arguments, so that a worker can build it again.
        label: tells two sources of one leaf apart.
        by_index: films at addresses are not brought where the store knows their SHA-256.
    """
    footage = [piece for piece in leaf.footage() if executor.workspace.takes(piece.uri)]
    step = replace(finding(leaf, label), ahead="" if by_index else _ahead(piece.payload for piece in footage))
    more = {"constants": dict(constants), "by_index": by_index}
    tasks = [Task(piece.uri, piece.content, {"footage": asdict(piece), **more}, piece.name) for piece in footage]
    return footage, executor.run(step, tasks)


def finding(leaf: SourceLeaf, label: str = "") -> Step:
    """The step that finds the footage of a source leaf; its tasks are called by ``uri`` and ``content`` of each piece."""
    return Step(
        name=find_step(leaf.name, label),
        version=f"{VERSION}.{leaf.version}",
        table="sources",
        record=Source,
        function="inpaintbench.curation.footage:find_one",
        # Paths of this machine stay out of the key: a moved folder is still the same footage.
        parameters={"leaf": leaf.name},
        time_limit_seconds=FIND_LIMIT_SECONDS,
    )


def find_step(leaf: str, label: str = "") -> str:
    """The step that finds the footage of a source."""
    return f"find.{leaf}" + (f".{label}" if label else "")


def _ahead(where: Iterable[Plain]) -> str:
    """What brings films before their turn, where some of these lie at addresses."""
    return "inpaintbench.curation.footage:bring_ahead" if any(place.get("state") for place in where) else ""


def bring_ahead(jobs: Sequence[tuple[Plain, Plain]], *, blobs: Blobs) -> None:  # noqa: ARG001 - as all that reads ahead
    """Bring into the cache what the next film needs that lies at an address, while the one before it is worked on."""
    for payload, _ in jobs[:1]:
        where = payload.get("where") or payload["footage"]["payload"]
        if where.get("state"):
            local_file(where["path"], state=where["state"])


def find_one(payload: Plain, *, parameters: Plain, blobs: Blobs, ahead: None = None) -> list[Source]:  # noqa: ARG001 - lies in the cache
    """Obtain one piece of footage, keep it as a blob if it had to be made, and hash it."""
    footage = payload["footage"]
    named = {name: footage[name] for name in ("uri", "origin", "licence", "author", "page_url")}
    size = int((footage["payload"].get("state") or "").partition(":")[0] or 0)
    if payload.get("by_index") and size and (stated := stated_sha256(footage["payload"])):
        return [Source(source_id=stated[:16], sha256=stated, bytes=size, blob=None, **named)]
    leaf = SOURCES.get(parameters["leaf"])(**payload["constants"])
    with blobs.scratch() as scratch:
        path = Path(leaf.obtain(footage["payload"], str(scratch)))
        made = scratch in path.parents
        blob = _kept(path, blobs) if made else None
        parts = {part.stem: _kept(part, blobs) for part in sorted((scratch / PARTS).glob("*"))}
        try:
            digest, size = file_sha256(path), path.stat().st_size
        except OSError as error:
            raise Rejected(f"cannot be read: {error.strerror}") from error
    if size == 0:
        raise Rejected("the file is empty (0 bytes)")
    return [Source(source_id=digest[:16], sha256=digest, bytes=size, blob=blob, parts=parts, **named)]


def _kept(path: Path, blobs: Blobs) -> str:
    return blobs.put(path.suffix, lambda target: shutil.copyfile(path, target))[0]


class Distinct(NamedTuple):
    """Sources, each content once."""

    sources: list[Source]
    doubles: list[Rejection]
    """Sources that are refused because another has their bytes."""
    shared: dict[str, list[str]]
    """Source id -> addresses of further footage of its bytes whose parts it has too."""


def distinct(sources: Sequence[Source], *, shares: bool = False) -> Distinct:
    """One source for each content, the first; the others are refused by name, and a licence that differs is told.

    Args:
        sources: all.
        shares: footage of the same bytes and origin that brings other pictures or films along is not refused: its parts become
            parts of the source (``parts_by_footage``). Of parts that are JSON alone, nothing is asked.
    """
    first: dict[str, Source] = {}
    doubles: list[Rejection] = []
    shared: dict[str, list[str]] = {}
    for source in sources:
        kept = first.setdefault(source.source_id, source)
        if kept is source:
            continue
        media = media_of(source.parts)
        new = shares and media and all(media != media_of(parts) for parts in parts_by_footage(kept.parts))
        if new and _credits(kept) == _credits(source):
            first[source.source_id] = replace(kept, parts=shared_parts(kept.parts, source.parts))
            shared.setdefault(source.source_id, []).append(source.uri)
            continue
        reason = f"{SAME_BYTES} {kept.uri}"
        if kept.licence != source.licence:
            reason += f", which is under {kept.licence or 'no stated licence'}, not {source.licence or 'no stated one'}"
        elif new:
            reason += ", and one film cannot be by two authors or of two pages"
        doubles.append(Rejection(source.uri, "probe", source.uri, reason))
    return Distinct(list(first.values()), doubles, shared)


def _credits(source: Source) -> tuple[str | None, ...]:
    return source.origin, source.licence, source.author, source.page_url


def probe(
    executor: Executor, sources: Sequence[Source], where: Mapping[str, Plain], doubles: Sequence[Rejection], *,
    transitions: bool = False, by_index: bool = False,
) -> Outcome:  # fmt: skip
    """Decode every source once and write what it holds to ``attributes``, with ``transitions`` also where shots end.

    ``by_index`` takes the index of a film at its word, where it has one.
    """
    return executor.run(*_probing(sources, where, transitions=transitions, by_index=by_index), rejected=doubles)


def _probing(
    sources: Sequence[Source], where: Mapping[str, Plain], *, transitions: bool, by_index: bool
) -> tuple[Step, list[Task]]:
    asked = {"transitions": TRANSITIONS_VERSION} if transitions else {}
    step = Step(
        name="probe",
        version=VERSION,
        table="attributes",
        record=Attribute,
        function="inpaintbench.curation.footage:probe_one",
        together="inpaintbench.curation.footage:probe_and_cut_one",
        # Sources of whom nobody asks it have the keys that they had.
        parameters=asked | ({"index": INDEX_VERSION} if by_index else {}),
        time_limit_seconds=time_limit(max((row.bytes for row in sources), default=0) / _SLOWEST_BYTES_A_SECOND),
        ahead="" if by_index else _ahead(where.values()),
    )
    tasks = []
    for source in sources:
        payload = {"source_id": source.source_id, "where": where[source.source_id], "bytes": source.bytes}
        tasks.append(Task(source.source_id, source.sha256, payload, source.uri))
    return step, tasks


def probe_one(payload: Plain, *, parameters: Plain, blobs: Blobs, ahead: None = None) -> list[Attribute]:  # noqa: ARG001
    """One attribute row for each fact of ``video.Probe``, named ``probe.<fact>``, and for what follows from them."""
    if "index" in parameters:
        with in_parts(payload["where"], blobs) as (read, size):
            foreseen = video.IndexedFilm(read, size).foreseen()
        if foreseen:
            return _probe_rows(payload, foreseen)
    looking = _Looking(asked="transitions" in parameters)
    probed = video.probe(open_path(payload["where"], blobs), watching=looking.watching)
    return [*_probe_rows(payload, probed), *looking.rows(payload["source_id"], probed, blobs)]


class _Looking:
    """Search for the transitions of a source while it is decoded, where somebody asks for them."""

    def __init__(self, *, asked: bool) -> None:
        self._finder = finder = shots.TransitionFinder() if asked else None
        self.watching = finder and (lambda frame: finder.add(video.thumbnail(frame, pixels=shots.WORKING_PIXELS)))

    def rows(self, source_id: str, probed: video.Probe, blobs: Blobs) -> list[Attribute]:
        """A row with the number of transitions, and where they are; none where nobody asked, and of an image."""
        if self._finder is None:
            return []
        spans = [[found.start_frame, found.end_frame] for found in self._finder.finish()]
        blob, _ = blobs.put(".json", lambda path: path.write_text(canonical_json({"fps": probed.fps, "spans": spans})))
        return [Attribute(source_id, TRANSITIONS, float(len(spans)), None, "probe", VERSION, blob)]


def _probe_rows(payload: Plain, probed: video.Probe) -> list[Attribute]:
    source_id, facts = payload["source_id"], asdict(probed)
    turned = facts["rotation_degrees"] % 180 != 0
    shape = (facts["width"] * facts["pixel_aspect"]) / facts["height"]
    shape = 1 / shape if turned else shape
    facts["orientation"] = "square" if abs(shape - 1) < 0.01 else "landscape" if shape > 1 else "portrait"
    facts["bits_per_second"] = 8 * payload["bytes"] / facts["duration_seconds"]
    values = {name: value if isinstance(value, str) else float(value) for name, value in facts.items()}
    return [Attribute(source_id, f"probe.{name}", value, None, "probe", VERSION) for name, value in values.items()]


def transitions_of_clip(blob: str, blobs: Blobs, *, start_frame: int, end_frame: int, fps: float) -> tuple[tuple[int, int], ...]:
    """Transitions of a clip's source, counted in frames from the clip's first; those that end before it or begin behind it too.

    Args:
        blob: of the source's attribute ``TRANSITIONS``.
        blobs: hold it.
        start_frame: of the clip in its source, counted at ``fps``.
        end_frame: the same.
        fps: rate of the clip; another than the source's where it was retimed.
    """
    found = json.loads(blobs.proved(blob).read_bytes())
    scale = fps / found["fps"] if fps != found["fps"] else 1.0
    near = ((math.floor(start * scale), math.ceil(end * scale)) for start, end in found["spans"])
    return tuple((start - start_frame, end - start_frame) for start, end in near if end >= start_frame and start < end_frame)


def cut(
    executor: Executor, sources: Sequence[Source], where: Mapping[str, Plain], attributes: Sequence[Attribute],
    *, splitter: Plain, normalizer: Plain, fps: float | None = None, form: str = "near-lossless", hdr: str = "exclude",
    name: str = "cut", table: str = "clips",
) -> Outcome:  # fmt: skip
    """Split, normalise and encode sources into the table ``clips``, or another ``table``.

    Args:
        executor: who does the work.
        sources: what is cut.
        where: source id -> where its file lies.
        attributes: rows of ``bars.find`` where bars are to be cut off.
        splitter: ``{"name": ..., constant: value ...}`` of the splitter leaf.
        normalizer: the same for the normalizer leaf.
        fps: bring videos to this constant rate, by timestamps; by default they keep theirs.
        form: one of ``video.CLIP_FORMS``.
        hdr: ``exclude`` refuses films of high dynamic range, ``tone_map`` brings them to the standard one.
        name: of the step.
        table: that gets the clips.
    """
    how = {"splitter": splitter, "normalizer": normalizer, "fps": fps, "form": form, "hdr": hdr}
    step, tasks = _cutting(sources, where, attributes, how)
    return executor.run(replace(step, name=name, table=table), tasks)


def probe_and_cut(
    executor: Executor, sources: Sequence[Source], where: Mapping[str, Plain], doubles: Sequence[Rejection], *,
    transitions: bool = False, by_index: bool = False, **how: Any,
) -> tuple[Outcome, Outcome]:  # fmt: skip
    """``probe`` and ``cut`` in one pass over each source, where all are cut whatever is found; ``how`` is what ``cut`` takes."""
    work = [_probing(sources, where, transitions=transitions, by_index=by_index), _cutting(sources, where, (), how)]
    done = executor.run_together(work, label="cut", rejected=doubles)
    refused = {row.subject_id for row in done["probe"].rejected}  # once is enough
    cut = replace(done["cut"], rejected=[row for row in done["cut"].rejected if row.subject_id not in refused])
    executor.workspace.write_table("rejected", "cut", cut.rejected, Rejection)
    return done["probe"], cut


def _cutting(
    sources: Sequence[Source], where: Mapping[str, Plain], attributes: Sequence[Attribute], how: Mapping[str, Any]
) -> tuple[Step, list[Task]]:
    if how["form"] == "challenge":
        video.require_h264("the form challenge")  # here and not a source each
    by_index = SPLITTERS.get(how["splitter"]["name"]).by_index
    leaves = {
        kind: [how[kind]["name"], leaves.get(how[kind]["name"]).version, without_name(how[kind])]
        for kind, leaves in (("splitter", SPLITTERS), ("normalizer", NORMALIZERS))
    }
    largest = max((row.bytes for row in sources), default=0)
    step = Step(
        name="cut", version=CUT_VERSION, table="clips", record=Clip, function="inpaintbench.curation.footage:cut_one",
        together="inpaintbench.curation.footage:probe_and_cut_one",
        parameters={**leaves, **{name: how[name] for name in ("fps", "form", "hdr")}},
        time_limit_seconds=time_limit(_SLOWEST_CUT * largest / _FEWEST_BYTES_A_SECOND),
        ahead="" if by_index else _ahead(where.values()),
    )  # fmt: skip
    of_source, tasks = _by_subject(attributes), []
    for source in sources:
        cut_off = of_source.get(source.source_id, {})
        payload = {"source_id": source.source_id, "where": where[source.source_id], "bars": cut_off}
        tasks.append(Task(source.source_id, content_id(source.sha256, cut_off), payload, source.uri))
    return step, tasks


def _by_subject(rows: Iterable[Attribute]) -> dict[str, dict[str, Any]]:
    """Subject -> what its attributes say: their values, and the blob of bars that change."""
    known: dict[str, dict[str, Any]] = {}
    for row in rows:
        known.setdefault(row.subject_id, {})[row.name] = row.blob if row.name == bars.SPANS else row.value
    return known


def without_name(leaf: Plain) -> dict[str, Any]:
    """A leaf's constants: ``{"name": ..., constant: value ...}`` less its name."""
    return {key: value for key, value in leaf.items() if key != "name"}


def cut_one(payload: Plain, *, parameters: Plain, blobs: Blobs, ahead: None = None) -> list[Clip]:  # noqa: ARG001
    """All clips of one source, decoded once from front to back."""
    _, clips = _probed_and_cut(payload, parameters, blobs, _Looking(asked=False))
    if isinstance(clips, InpaintBenchError):
        raise clips
    return clips


def probe_and_cut_one(
    jobs: Sequence[tuple[Plain, Plain]],
    *,
    blobs: Blobs,
    ahead: None = None,  # noqa: ARG001
) -> list[list[Any] | InpaintBenchError]:
    """``probe_one`` and ``cut_one`` of one source, decoded once."""
    (own, asked), (payload, parameters) = jobs
    looking = _Looking(asked="transitions" in asked)
    try:
        probed, clips = _probed_and_cut(payload, parameters, blobs, looking)
    except InpaintBenchError as error:
        return [error, error]
    return [[*_probe_rows(own, probed), *looking.rows(payload["source_id"], probed, blobs)], clips]


def _probed_and_cut(
    payload: Plain, parameters: Plain, blobs: Blobs, looking: _Looking
) -> tuple[video.Probe, list[Clip] | InpaintBenchError]:
    """Cut a source by what its packets promise, and measure at that what it holds; where that is another, cut it by that."""
    if SPLITTERS.get(parameters["splitter"][0]).by_index and (known := _by_index(payload, parameters, blobs)):
        return known
    path = open_path(payload["where"], blobs)
    if video.is_image(path):
        probed = video.probe(path)
        return probed, _cut(path, probed, payload, parameters, blobs)
    decoder = video.ProbingDecoder(path, watching=looking.watching)
    foreseen = decoder.foreseen()
    clips = _cut(path, foreseen, payload, parameters, blobs, decoder=decoder) if foreseen else []
    probed = decoder.probe()
    if foreseen is None or _decisive(foreseen) != _decisive(probed):
        clips = _cut(path, probed, payload, parameters, blobs)
    return probed, clips


def _by_index(payload: Plain, parameters: Plain, blobs: Blobs) -> tuple[video.Probe, list[Clip] | InpaintBenchError] | None:
    """The same of a film of which no more is read than its index and its clips; None where it has to be read whole."""
    try:
        with in_parts(payload["where"], blobs) as (read, size):
            film = video.IndexedFilm(read, size)
            foreseen = film.foreseen()
            return (foreseen, _cut("", foreseen, payload, parameters, blobs, film=film)) if foreseen else None
    except video.Misread:
        return None


def _decisive(probed: video.Probe) -> tuple[Any, ...]:
    """The facts that clips depend on."""
    return probed.hdr, probed.pixel_aspect, probed.fps, probed.frames, probed.duration_seconds


def _cut(
    path: str, facts: video.Probe, payload: Plain, parameters: Plain, blobs: Blobs, decoder: video.Decoder | None = None,
    film: video.IndexedFilm | None = None,
) -> list[Clip] | InpaintBenchError:  # fmt: skip
    """The clips of a source that holds ``facts``, or why there are none; of a ``film`` nothing else is read."""
    (splitter_name, _, splitting), (normalizer_name, _, normalising) = parameters["splitter"], parameters["normalizer"]
    retimed = None if video.is_image(path) else parameters["fps"]
    fps = float(retimed or facts.fps)
    clips = []
    try:
        splitter = SPLITTERS.get(splitter_name)(**splitting)
        normalizer = NORMALIZERS.get(normalizer_name)(**normalising)
        spans = _spans(path, facts, splitter, retimed=retimed, hdr=parameters["hdr"])
        numbered = enumerate(video.upright_frames(path, fps=retimed, hdr=parameters["hdr"], decoder=decoder))
        for start, end in spans:
            if film:
                frames = film.frames(start, end, fps=retimed)
                numbered = enumerate(video.upright_frames(path, hdr=parameters["hdr"], frames=frames), start)
            cut_off = bars.bars_of_clip(
                payload["bars"], blobs, start_frame=start, end_frame=end, source_fps=facts.fps if retimed else fps, fps=fps
            )
            frames = _frames_of(numbered, start, end, cut_off, normalizer, facts.pixel_aspect)
            write = partial(video.write_clip, frames=frames, fps=fps, form=parameters["form"])
            blob, encoded = blobs.put(video.suffix_for(end - start), write)
            clips.append(Clip(
                clip_id=content_id(payload["source_id"], start, end, dict(parameters), CUT_VERSION),
                source_id=payload["source_id"], start_frame=start, end_frame=end, fps=fps, width=encoded.width,
                height=encoded.height, frames=end - start, blob=blob, yuv_sha256=encoded.yuv_sha256,
                rgb_sha256=encoded.rgb_sha256, encode_crf=encoded.crf, encode_psnr_db=encoded.psnr_db,
                encoder=encoded.encoder,
            ))  # fmt: skip
    except video.Misread:
        raise
    except InpaintBenchError as error:
        return error
    return clips


def _frames_of(
    numbered: Iterator[tuple[int, tuple[Image, bool]]], start: int, end: int, cut_off: Bars, normalizer: Normalizer, aspect: float
) -> Iterator[Image]:
    """The frames of ``[start, end)``, which lies behind all that were taken of ``numbered`` before, without bars, normalised."""
    size = ""
    for index, (pixels, turned) in numbered:
        if index < start:
            continue
        frame = normalizer.apply(cut_off.cut(pixels), pixel_aspect=1 / aspect if turned else aspect)
        own = f"{frame.shape[1]}x{frame.shape[0]}"
        size = size or own
        if own != size:
            raise Rejected(f"the size of its frames changes from {size} to {own} at frame {index}")
        yield frame
        if index + 1 == end:
            return
    raise MediaError(f"fewer frames decode now than when it was probed (clip {start}..{end})")


def _spans(path: str, facts: video.Probe, splitter: Splitter, *, retimed: float | None, hdr: str) -> list[tuple[int, int]]:
    if facts.hdr != "none" and hdr == "exclude":
        raise Rejected(f"is of high dynamic range ({facts.hdr}); `--hdr tone_map` takes it")
    count = video.frames_at(facts.duration_seconds, retimed) if retimed else facts.frames
    return list(splitter.spans(path, frames=count, fps=float(retimed or facts.fps), retimed=bool(retimed)))


def clips_foreseen(path: str, *, splitter: Plain, fps: float | None, hdr: str) -> int:
    """Number of clips that a film promises: by its packets, or by its frames where these do not say.

    Rules and damaged frames may leave fewer.

    Raises:
        Rejected: it gives none.
        MediaError: it cannot be read.
    """
    decoder = video.ProbingDecoder(path)
    facts = decoder.foreseen() or decoder.probe()
    leaf = SPLITTERS.get(splitter["name"])(**without_name(splitter))
    return len(_spans(path, facts, leaf, retimed=fps, hdr=hdr))


def _size(shape: tuple[int, ...]) -> str:
    return f"{shape[1]}x{shape[0]}"


def known_labels(
    workspace: Workspace, sources: Sequence[Source], footage: Sequence[Footage], shared: Mapping[str, Sequence[str]]
) -> list[Attribute]:
    """Write the labels that came with footage to ``attributes``, marked as known; of ``shared`` bytes those that all state."""
    known = {piece.uri: piece.known for piece in footage}
    data = {piece.uri: piece.data for piece in footage}
    rows, of_data = [], []
    for source in sources:
        others = [known.get(uri, {}) for uri in shared.get(source.source_id, ())]
        for name, value in known.get(source.uri, {}).items():
            if all(other.get(name) == value for other in others):
                rows.append(Attribute(source.source_id, name, value, None, KNOWN, VERSION))
        for name, value in data.get(source.uri, {}).items():
            of_data.append(data_attribute(workspace.blobs, source.source_id, name, value, producer=KNOWN))
    rows += of_data
    workspace.write_table("attributes", KNOWN, rows, Attribute)
    return rows


def data_attribute(blobs: Blobs, subject_id: str, name: str, value: Any, *, producer: str) -> Attribute:
    """A fact that is data, kept as a JSON blob; the value in the table is how many entries it has."""
    blob, _ = blobs.put(".json", lambda path: path.write_text(canonical_json(stated(value))))
    return Attribute(subject_id, name, float(len(value)), None, producer, VERSION, blob)


NORMALISED = "normalised"
NORMALISED_VERSION = "1"


def normalised(
    clips: Sequence[Clip], facts: Sequence[Attribute], *, normalizer: Plain, fps: float | None, blobs: Blobs
) -> list[Attribute]:
    """A row for each clip: turned, colours, bars, size, rate; whatever was done, in that order.

    Args:
        clips: as they were cut.
        facts: rows of ``probe`` and of ``bars`` of their sources.
        normalizer: ``{"name": ..., constant: value}`` of the leaf that gave them their size.
        fps: the rate that films were brought to; None where they keep theirs.
        blobs: holds the bars of sources where those change.
    """
    sized = NORMALIZERS.get(normalizer["name"])(**without_name(normalizer)).describe()
    known, rows = _by_subject(facts), []
    for clip in clips:
        words = "; ".join(_done(clip, known[clip.source_id], sized, fps, blobs))
        rows.append(Attribute(clip.clip_id, NORMALISED, words, None, NORMALISED, NORMALISED_VERSION))
    return rows


def _done(clip: Clip, facts: Mapping[str, Any], sized: str, fps: float | None, blobs: Blobs) -> list[str]:
    tags = [str(facts[f"probe.{name}"]) for name in ("matrix", "colour_range")]
    tagged = " ".join(tag for tag in tags if tag != "unknown") or "untagged"
    plain = f"{facts['probe.pixel_format']} {tagged}"
    colours = plain if facts["probe.hdr"] == "none" else f"tone-mapped from {facts['probe.hdr']}"
    done = [f"{int(facts['probe.width'])}x{int(facts['probe.height'])} {colours}"]
    if facts.get("probe.mirrored"):
        done.append("mirrored back")
    if facts["probe.rotation_degrees"]:
        done.append(f"turned by {int(facts['probe.rotation_degrees'])} degrees")
    if facts["probe.has_alpha"]:
        done.append("laid over black")
    if abs(facts["probe.pixel_aspect"] - 1) > 1e-6:
        done.append(f"pixels of {facts['probe.pixel_aspect']:.4g}:1 made square")
    source_fps = float(facts["probe.fps"]) if fps else clip.fps
    widest = bars.bars_of_clip(
        facts, blobs, start_frame=clip.start_frame, end_frame=clip.end_frame, source_fps=source_fps, fps=clip.fps
    )
    if cut_off := ", ".join(f"{lines} {side}" for side, lines in asdict(widest).items() if lines):
        done.append(f"bars cut off: {cut_off}")
    done.append(sized)
    rate = "variable" if facts["probe.variable_frame_rate"] else f"{facts['probe.fps']:.6g} fps"
    if clip.frames > 1:
        done.append(f"{rate} brought to {clip.fps:g} fps by timestamps" if fps else f"every frame ({rate})")
    return done


class Reshaped(NamedTuple):
    """Clips that are not their footage at another, smaller size."""

    clips: int
    enlarged: int
    cropped: int


def reshaped(workspace: Workspace, clip_ids: Collection[str]) -> Reshaped:
    """Count clips that were enlarged, and those that lost a border beside bars, from what is known of their sources."""
    from inpaintbench.tables import to_records

    clips = to_records(workspace.columns("clips", Clip, where=("clip_id", clip_ids)), Clip)
    subjects = {*clip_ids, *(clip.source_id for clip in clips)}
    facts = to_records(workspace.columns("attributes", Attribute, where=("subject_id", subjects)), Attribute)
    known = _by_subject(facts)
    enlarged = cropped = 0
    for clip in clips:
        if "probe.width" not in (source := known.get(clip.source_id, {})):
            continue
        # Of its footage in square pixels, turned and without bars.
        width, height, aspect = source["probe.width"], source["probe.height"], source["probe.pixel_aspect"]
        if source["probe.rotation_degrees"] % 180:
            width, height, aspect = height, width, 1 / aspect
        cut_off = bars.bars_of_clip(
            source, workspace.blobs, start_frame=clip.start_frame, end_frame=clip.end_frame, source_fps=source["probe.fps"],
            fps=clip.fps,
        )  # fmt: skip
        width, height = (width - cut_off.left - cut_off.right) * aspect, height - cut_off.top - cut_off.bottom
        way = str(known.get(clip.clip_id, {}).get(NORMALISED, ""))
        ratio = 1.0 if "; crop " in way else max(clip.width / width, clip.height / height)
        enlarged += ratio > 1 and "; contain " not in way
        # Whole pixels: what is scaled to cover a size is up to a pixel larger than that.
        lost = max(width * ratio - clip.width, height * ratio - clip.height)
        cropped += lost >= 2 and any(f"; {name} " in way for name in ("cover", "crop"))
    return Reshaped(len(clips), enlarged, cropped)
