"""Decide over stored measurements: which clips to keep, and which are low or high. Touches no pixels."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from inpaintbench.lazily import lazily
from inpaintbench.tables import flat, last_places, schema_of
from inpaintbench.types import Attribute, Clip, Selection

pc = lazily("pyarrow.compute")

VERSION = "2"
LEVELS = ("low", "high")

# Of the clips with a value, labelled low and as many high, and the most labels of each: as DEVIL, CVPR 2022, has them.
SHARE, AT_MOST = 0.16, 150
# Sources that the labels of a kind come from at least, where there are so many.
FEWEST_SOURCES = 4


def top_share(numbers: Mapping[str, float], *, attribute: str, share: float) -> list[Selection]:
    """Keep the clips with the highest numbers: ``ceil(share * n)`` of n, ties in order of clip id.

    Args:
        numbers: clip id -> its number.
        attribute: what the rule calls it.
        share: of the clips, above 0 and at most 1.
    """
    order = sorted(numbers, key=lambda clip_id: (-numbers[clip_id], clip_id))
    best = set(order[: math.ceil(share * len(order) - 1e-9)])
    return _selected(numbers, best, f"{attribute} among the highest {share:.0%}", attribute)


def at_least(numbers: Mapping[str, float], *, attribute: str, bound: float) -> list[Selection]:
    """Keep the clips whose number is ``bound`` or more, as ``top_share`` keeps those of a benchmark that is added to."""
    best = {clip_id for clip_id, number in numbers.items() if number >= bound}
    return _selected(numbers, best, f"{attribute} >= {bound:.4g}", attribute)


def _selected(numbers: Mapping[str, float], best: Collection[str], rule: str, attribute: str) -> list[Selection]:
    rows = []
    for clip_id, number in numbers.items():
        reason = None if clip_id in best else f"{attribute} {number:.4g} is not"
        rows.append(Selection(clip_id, rule, number, keep=clip_id in best, reason=reason))
    return rows


def kept(clips: Sequence[Clip], selections: Sequence[Selection]) -> list[Clip]:
    """The clips that no rule drops and that wait for nobody."""
    dropped = {selection.clip_id for selection in selections if not selection.keep}
    return [clip for clip in clips if clip.clip_id not in dropped]


def rank_levels(
    clips: pa.Table, measured: pa.Table, *, level: str, share: float = SHARE, at_most: int = AT_MOST, spread: bool = False,
    least_high: float = -math.inf, alike: Mapping[str, str] = MappingProxyType({}),
) -> pa.Table:  # fmt: skip
    """Label the lowest and highest clips by rank: DEVIL's rule for motion labels (CVPR 2022, section 4.2).

    The ``floor(share * n)`` lowest of the n clips with a value are candidates for low, as many of the highest for high (at
    least one of each, never the same clip). Candidates are ordered round-robin over their sources, the most extreme clip of
    every source first, and the first ``at_most`` get the label; every other clip gets ``None`` with the reason.

    With ``spread`` there are twice as many candidates for as many labels, and one of ``FEWEST_SOURCES`` sources gives no more
    than its share of them: a film whose camera stands would else be all of the clips of little motion.

    Args:
        clips: rows of the kept clips.
        measured: rows of ``Attribute``, one a clip, any order; those of other clips are ignored.
        level: name of the attribute to write.
        share: of the scored clips, in 0..0.5.
        at_most: labels of each kind.
        spread: over sources.
        least_high: clips of less are high at no rank.
        alike: clip id -> another that shows the same. Of clips that show the same, the first that has a value is a candidate.

    Returns:
        Rows of ``Attribute``, one a clip with value ``low``, ``high`` or None, in the order of ``clips``.
    """
    ids = flat(clips["clip_id"])
    places = last_places(flat(measured["subject_id"]), ids)
    taken = measured.select(["value", "value_text", "reason"]).take(pa.array(places, mask=places < 0))
    scored = np.flatnonzero(taken["value"].is_valid().to_numpy())
    doubles: dict[int, str] = {}  # place -> the clip that stands for it
    if alike:
        first: dict[str, int] = {}
        names: list[str] = ids.to_pylist()
        stands = [first.setdefault(alike.get(names[at], names[at]), at) for at in scored.tolist()]
        doubles = {at: names[of] for at, of in zip(scored.tolist(), stands, strict=True) if at != of}
        scored = np.array(sorted(first.values()), np.int64)
    order = pc.sort_indices(
        pa.table({"value": taken["value"].take(pa.array(scored)), "clip": ids.take(pa.array(scored))}),
        sort_keys=[("value", "ascending"), ("clip", "ascending")],
    )
    lowest_first = scored[order.to_numpy()]
    count = max(1, math.floor(share * len(scored))) if len(scored) > 1 else 0
    sources = flat(clips["source_id"]).dictionary_encode().indices.to_numpy()
    labels = np.full(len(ids), -1)
    pool = min(len(scored) // 2, 2 * count) if spread else count
    numbers = flat(taken["value"]).to_numpy(zero_copy_only=False)
    highest = lowest_first[::-1][:pool]
    still = highest[numbers[highest] < least_high]
    for label, extreme_first in enumerate((lowest_first[:pool], highest[numbers[highest] >= least_high])):
        candidates, turns = _round_robin(extreme_first, sources)
        if spread and len(candidates):
            candidates = candidates[turns < math.ceil(count / min(FEWEST_SOURCES, len(np.unique(sources[candidates]))))]
        labels[candidates[: min(count, at_most)]] = label
    usual = f"not among the {count} lowest or {count} highest of {len(scored)} scored clips"
    usual += ", spread over sources" if spread else ""
    # Why each of the clips that have a score would have no label.
    reasons = [usual if len(scored) > 1 else "only 1 clip has a score; low and high need two"] * len(ids)
    for place in still.tolist():
        reasons[place] = f"below {least_high:g}: not high at any rank"
    for place, of in doubles.items():
        reasons[place] = f"a near-duplicate of clip {of}, which stands for it"
    return _labelled(ids, level, labels, taken, places >= 0, producer="rank", rest=pa.array(reasons, pa.string()))


def levels_within(
    clips: pa.Table, measured: pa.Table, *, level: str, thresholds: Mapping[str, float], known: Mapping[str, str]
) -> pa.Table:
    """Label clips by fixed thresholds instead of by rank, as those of a benchmark that is added to.

    Args:
        clips: rows of the kept clips.
        measured: rows of ``Attribute``, one a clip, any order; those of other clips are ignored.
        level: name of the attribute to write.
        thresholds: ``low``: clips of at most this number are low; ``high``: clips of at least this one are high. A label without
            a threshold is given to nobody.
        known: clip id -> its label, whatever it measures.

    Returns:
        Rows of ``Attribute``, one a clip with value ``low``, ``high`` or None, in the order of ``clips``.
    """
    ids = flat(clips["clip_id"])
    places = last_places(flat(measured["subject_id"]), ids)
    taken = measured.select(["value", "value_text", "reason"]).take(pa.array(places, mask=places < 0))
    numbers = pc.fill_null(flat(taken["value"]), math.nan).to_numpy(zero_copy_only=False)
    labels = np.full(len(ids), -1)
    labels[numbers >= thresholds.get("high", math.inf)] = 1
    labels[numbers <= thresholds.get("low", -math.inf)] = 0
    for place, clip_id in enumerate(ids.to_pylist()):
        if clip_id in known:
            labels[place] = LEVELS.index(known[clip_id])
    bounds = ", ".join(f"{name} {thresholds[name]:.4g}" for name in LEVELS if name in thresholds)
    rest = f"between the thresholds of the published clips ({bounds})"
    return _labelled(ids, level, labels, taken, places >= 0, producer="threshold", rest=rest)


def _round_robin(
    extreme_first: npt.NDArray[np.int64], sources: npt.NDArray[np.int32]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Places of clips with the first of every source before the second of any, and which of its source each is, from 0."""
    by_source = np.argsort(sources[extreme_first], kind="stable")
    grouped = sources[extreme_first][by_source]
    begins = np.flatnonzero(np.r_[True, grouped[1:] != grouped[:-1]])[: len(grouped)]
    turns = np.empty(len(grouped), np.int64)
    turns[by_source] = np.arange(len(grouped)) - np.repeat(begins, np.diff(np.r_[begins, len(grouped)]))
    order = np.argsort(turns, kind="stable")
    return extreme_first[order], turns[order]


def _labelled(
    ids: pa.Array, level: str, labels: npt.NDArray[np.int64], taken: pa.Table, measured: npt.NDArray[np.bool_], *, producer: str,
    rest: str | pa.Array,
) -> pa.Table:  # fmt: skip
    """The labels ``LEVELS`` of clips by number, and why each that has none, -1, has none; ``rest``: of those with a score."""
    why = pc.if_else(pa.array(measured), pc.fill_null(flat(taken["reason"]), "None"), "not measured")
    has_value = pc.or_(flat(taken["value"]).is_valid(), flat(taken["value_text"]).is_valid())
    reasons = pc.if_else(has_value, rest, pc.binary_join_element_wise("not scored: ", why, ""))
    return _as_attributes(
        ids, level, pa.nulls(len(ids), pa.float64()), pa.array(LEVELS).take(pa.array(labels, mask=labels < 0)),
        pc.if_else(pa.array(labels >= 0), pa.scalar(None, pa.string()), reasons),
        pa.repeat(producer, len(ids)), pa.repeat(VERSION, len(ids)),
    )  # fmt: skip


def inherited_levels(clips: pa.Table, labels: pa.Table, *, level: str) -> pa.Table:
    """Return the labels called ``level`` of clips as rows: their own, else their source's; clips without either get no row."""
    rows = labels.filter(pc.equal(labels["name"], level)).combine_chunks()
    ids, subjects = flat(clips["clip_id"]), flat(rows["subject_id"])
    own = last_places(subjects, ids)
    places = np.where(own >= 0, own, last_places(subjects, flat(clips["source_id"])))
    there = pa.array(places >= 0)
    rows, ids = rows.take(pa.array(places).filter(there)), ids.filter(there)
    columns = (rows[name] for name in ("value", "value_text", "reason", "producer", "producer_version"))
    return _as_attributes(ids, level, *map(flat, columns))


def _as_attributes(ids: pa.Array, name: str, *columns: pa.Array) -> pa.Table:
    schema = schema_of(Attribute)
    return pa.Table.from_arrays([ids, pa.repeat(name, len(ids)), *columns, pa.nulls(len(ids), pa.string())], schema=schema)
