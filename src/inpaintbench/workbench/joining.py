"""What can be looked at together, as columns: the items of a dataset or workspace, or those that runs have in common.

Whether runs can be compared is decided here: by the items of the same pixels that all have, under one protocol with the same
constants; or not at all, with a sentence that says why.
"""

from __future__ import annotations

import hashlib
import inspect
import math
import shlex
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from inpaintbench import frozen, manifest
from inpaintbench.catalogue import attribute_at
from inpaintbench.claims import ENOUGH_SOURCES, students_t
from inpaintbench.compute import RANDOM_WEIGHTS
from inpaintbench.errors import InpaintBenchError, InputError
from inpaintbench.eval.methods import METHODS
from inpaintbench.eval.metrics import METRICS
from inpaintbench.eval.protocols import PROTOCOLS, usual
from inpaintbench.eval.report.gallery import Attribute, attributes_of, source_name
from inpaintbench.eval.results.quantity import Quantity, first_shown, metric_label, metric_leaf, place_label, quantity_label
from inpaintbench.eval.results.slices import in_reading_order
from inpaintbench.eval.scoring.run_folder import NOT_RUN, SETTINGS, is_stale, predictions_of, read_kept, references_in
from inpaintbench.eval.values.permutation import holm
from inpaintbench.eval.values.statistics import LEVEL, Summary, summarise
from inpaintbench.executors.unfinished import in_progress
from inpaintbench.lazily import lazily
from inpaintbench.pages.colours import DASHES, MARKERS, MethodStyle, method_styles
from inpaintbench.pages.page import as_json
from inpaintbench.pages.words import count
from inpaintbench.steps import LEVEL_OF, PAIR_OF, predict_step, predicted_label, score_step
from inpaintbench.tables import flat
from inpaintbench.types import Attribute as Fact
from inpaintbench.types import Clip, Dataset, Item, Plain, Prediction, Score, Selection, Slice, Source
from inpaintbench.workbench.finding import BOARDS, Folders, Thing, opened, scored_in
from inpaintbench.workspace import Workspace

pc, special = lazily("pyarrow.compute"), lazily("scipy.special")

# Column of an item that says which pixels it is of; two items of one id are the same where these are.
_IDENTITY = ("item_id", "truth_rgb_sha256", "hole_sha256", "input_sha256")
_READ = ["method", "item_id", "metric", "region", "protocol", "fingerprint", "value", "reason"]
# Of one dataset: what a browser holds.
_MOST_ITEMS = 1_000_000
# Attributes of clips that say nothing to people: near-duplicates are found by them.
_FOR_PROGRAMS = frozenset({"copy_hashes", "perceptual_hash"})
# What is kept with the settings of a method, and is none of them.
_NO_SETTINGS = frozenset({"label", "only", "reference", "remarks", "root"})
# Place of a word that is not there.
_NO_WORD = 65535
_UNBOUNDED = (-math.inf, math.inf)
Column = npt.NDArray[np.float32] | npt.NDArray[np.uint16]


class Shown(NamedTuple):
    """A method of one run, as it is called beside those of others."""

    name: str
    label: str
    run: str
    """Key."""
    reference: bool
    also: tuple[str, ...] = ()
    """What it may be called beside fewer or more runs: an address that was written then goes on to mean it."""


class Measure(NamedTuple):
    """A quantity as the page shows it."""

    key: str
    metric: str
    region: str
    label: str
    where: str
    """The end of ``label``, which names the region."""
    unit: str
    decimals: int
    higher: bool
    """Whether more is better."""
    ranked: bool
    diagnostic: str = ""


class Against(NamedTuple):
    """One run less another, as the page offers it."""

    base: str
    """Key of the other."""
    title: str
    sentence: str
    """Which methods are gone or new, and in what those of one name differ."""


def chance_of(lead: Summary) -> float:
    """The p of a mean that has an interval: of Student's t with one degree of freedom less than sources, as wide as that."""
    reach, degrees = (lead.interval_high or 0) - (lead.mean or 0), lead.n_clusters - 1
    if not reach or not lead.mean:
        return float(not lead.mean)
    return float(2 * special.stdtr(degrees, -abs(lead.mean) / reach * students_t(LEVEL, degrees)))


def measure_of(one: Quantity) -> Measure:
    """A metric in a region."""
    leaf = metric_leaf(one.metric)
    label, where = quantity_label(one), place_label(one.region)
    return Measure(
        one.key, one.metric, one.region, label, where, leaf.unit, leaf.decimals, one.higher_is_better, one.ranked, one.diagnostic
    )


@dataclass
class Joined:
    """Items side by side. All columns are in the order of ``ids``."""

    title: str
    sentences: list[str]
    """What it is of, and what to know before it is believed."""
    ids: list[str]
    sources: list[str]
    """By which means cluster."""
    names: list[str]
    """The last part of the address of each item's footage, as people read it."""
    facts: list[Attribute]
    slices: list[tuple[str, str, list[int]]] = field(default_factory=list)
    """Name, rule, places of its items."""
    pairs: dict[str, list[list[int]]] = field(default_factory=dict)
    """Fact that holds an axis's level -> items of one clip that differ in it alone, the least level first."""
    protocol: str = ""
    fingerprint: str = ""
    protocols: list[str] = field(default_factory=list)
    """Those under which all could be compared."""
    methods: list[Shown] = field(default_factory=list)
    quantities: list[Measure] = field(default_factory=list)
    default: str = ""
    values: dict[tuple[str, str], npt.NDArray[np.float64]] = field(default_factory=dict)
    """(Key of a quantity, name of a method) -> one value for each item, NaN where there is none."""
    failures: list[tuple[int, int, str]] = field(default_factory=list)
    """Method, item, reason."""
    against: list[Against] = field(default_factory=list)
    """Of two runs: the newer less the older, and the other way round."""
    kind: str = "run"
    root: str = ""
    """Key of the dataset, or of the workspace; empty where films are none of a dataset's."""

    @cached_property
    def stamp(self) -> str:
        """Changes whenever a place in ``ids`` may be that of another item."""
        return hashlib.sha256("\n".join(self.ids).encode()).hexdigest()

    @property
    def references(self) -> set[str]:
        """Names of the methods that do not compete."""
        return {one.name for one in self.methods if one.reference}

    @property
    def styles(self) -> dict[str, MethodStyle]:
        """Name -> look: colour and marker of the method whatever runs are shown; its second run is nearer the ink, and dashed."""
        labels = dict.fromkeys(one.label for one in self.methods)
        contending = {one.label for one in self.methods if not one.reference}
        by_label, found, runs = method_styles(labels, [one for one in labels if one not in contending]), {}, Counter[str]()
        for one in self.methods:
            colour, marker, dash = by_label[one.label]
            if nth := runs[one.label]:
                colour = f"color-mix(in oklab, {colour} {max(35, 80 - 25 * nth)}%, var(--ink))"
                dash = DASHES[(MARKERS.index(marker) + nth) % len(DASHES)]
            runs[one.label] += 1
            found[one.name] = MethodStyle(colour, marker, dash)
        return found

    @property
    def choices(self) -> dict[str, list[tuple[str, str]]]:
        """What the bar, the axes of the plot and the order offer: (key of a column or name, label)."""
        names = [one.name for one in self.methods]
        facts = [(f"a|{fact.name}", fact.label, fact.numeric) for fact in self.facts]
        named, apart = [(f"v|{name}", name) for name in names], [(f"d|{name}", f"{name} less the base") for name in names]
        derived = [("mean", "mean of methods"), ("spread", "spread of methods")][: len(names) if self.quantities else 0]
        scores = [(f"s|{one.key}|{name}", f"{one.label}, {name}") for one in self.quantities for name in names]
        axes = [*(fact[:2] for fact in facts), *derived, *apart, *scores]
        arrows = {one.metric: (" ↑" if one.higher else " ↓") if one.ranked else "" for one in self.quantities}
        labels = {one.metric: one.label.replace(one.where, "").strip() for one in self.quantities}
        orders = [("worst", "worst first"), ("spread", "most disagreed"), ("odd", "largest residual")]
        return {
            "metric": [(metric, f"{label}{arrows[metric]}") for metric, label in labels.items()],
            "region": list({one.region: (one.region, one.where) for one in self.quantities}.values()),
            "protocol": [(name, name) for name in self.protocols],
            "slice": [("", "all items"), *((name, f"{name} ({len(places)})") for name, _, places in self.slices)],
            "of": [*(fact[:2] for fact in facts if fact[2]), *named, *apart, *derived[1:]],
            "x": axes,
            "y": [("|chosen", "the metric"), *axes] if self.quantities else axes,
            "order": [*orders[: (0, 1, 3)[len(derived)]], ("random", "at random"), ("item", "by name"), ("column", "by column")],
        }

    @cached_property
    def packed(self) -> bytes:
        """A head in JSON, its length before it (4 bytes, little endian), and behind it the columns, each from a multiple of 4."""
        parts: list[bytes] = []
        place = 0

        def put(column: Column) -> int:
            nonlocal place
            data = np.ascontiguousarray(column).tobytes()
            parts.append(data + b"\0" * (-len(data) % 4))
            start, place = place, place + len(parts[-1])
            return start

        facts: list[dict[str, Any]] = []
        for fact in self.facts:
            told: dict[str, Any] = {"key": fact.name, "label": fact.label, "numeric": fact.numeric}
            if fact.numeric:
                told["at"] = put(np.array([np.nan if value is None else value for value in fact.values], np.float32))
            else:
                words = sorted({str(value) for value in fact.values if value is not None})
                places = {word: at for at, word in enumerate(words)}
                codes = [_NO_WORD if value is None else places[str(value)] for value in fact.values]
                told |= {"words": words, "at": put(np.array(codes, np.uint16))}
            facts.append(told)
        head = {
            "title": self.title, "sentences": self.sentences, "kind": self.kind, "root": self.root, "ids": self.ids,
            "sources": self.sources, "names": self.names, "choices": self.choices, "facts": facts, "slices": self.slices,
            "pairs": self.pairs, "protocol": self.protocol, "stamp": self.stamp,
            "protocols": self.protocols, "against": [one._asdict() for one in self.against],
            "methods": [one._asdict() for one in self.methods], "default": self.default,
            "styles": {name: style._asdict() for name, style in self.styles.items()},
            "quantities": [one._asdict() for one in self.quantities], "failures": self.failures,
            "values": {f"{key}|{name}": put(values.astype(np.float32)) for (key, name), values in self.values.items()},
        }  # fmt: skip
        text = as_json(head).encode()
        text += b" " * (-len(text) % 4)
        return len(text).to_bytes(4, "little") + text + b"".join(parts)

    def called(self, one: str, beside: str) -> str:
        """An item beside another: by its level where it differs from that in an axis alone, else by its id."""
        places = {place for place, item in enumerate(self.ids) if item in (one, beside)}
        axis = next((fact for fact, groups in self.pairs.items() if any(places <= set(group) for group in groups)), None)
        levels = next((fact.values for fact in self.facts if fact.name == axis), None)
        return str(levels[self.ids.index(one)]) if levels else one[:6]

    def base_of(self, name: str, base: str) -> str:
        """What a method is held against: ``base``, or of ``|RUN`` that run's method of the same label; empty for none."""
        if not base.startswith("|"):
            return base if base != name else ""
        label = next(one.label for one in self.methods if one.name == name)
        return next((one.name for one in self.methods if (one.run, one.label) == (base[1:], label) and one.name != name), "")

    def lead(self, key: str, one: str, other: str, items: Sequence[int]) -> Summary:
        """Mean difference, first less other, over those of ``items`` that both have a finite value for, with its interval."""
        own, others = self.values[key, one], self.values[key, other]
        with np.errstate(invalid="ignore"):
            apart = own - others
        return self._mean(apart, items)

    def elsewhere(self, key: str, bases: Mapping[str, str], items: Sequence[int]) -> dict[str, list[tuple[Measure, Summary]]]:
        """Method -> its ``lead`` over its base in each further metric, in the region of ``key`` or else its first, that is more
        than chance: at 5 % among all that are looked at here, by Holm."""
        chosen, found = {measure.key: measure for measure in self.quantities}[key], {}
        for measure in self.quantities:
            if measure.ranked and measure.metric != chosen.metric and (
                measure.region == chosen.region or measure.metric not in found
            ):  # fmt: skip
                found[measure.metric] = measure
        pairs = [(name, one) for name, base in bases.items() if base for one in found.values()]
        leads = [self.lead(one.key, name, bases[name], items) for name, one in pairs]
        sure = [(*pair, lead) for pair, lead in zip(pairs, leads, strict=True) if lead.interval_high is not None]
        corrected = holm([chance_of(lead) for *_, lead in sure])
        return {
            name: [(one, lead) for (own, one, lead), p in zip(sure, corrected, strict=True) if own == name and p < 1 - LEVEL]
            for name in bases
        }

    def derived(self, key: str, methods: Sequence[str], base: str) -> list[tuple[str, npt.NDArray[np.float64]]]:
        """Columns that follow from one quantity of some methods: mean and spread of those that compete, on the items that each
        of them has which has any, and differences from ``base``; each with what it is called. A method of several runs counts
        once in the mean."""
        shown = [one for one in self.methods if one.name in methods]
        own = [one for one in self.scored(key, shown) if not one.reference]
        columns = np.array([self.values[key, one.name] for one in own]).reshape(-1, len(self.ids))
        runs = Counter(one.label for one in own)
        known = ~np.isnan(columns)
        parts = known / np.array([[runs[one.label]] for one in own]).reshape(-1, 1)
        counts = known.sum(axis=0) * (self.kind != "run" or known.all(axis=0))
        with np.errstate(invalid="ignore", divide="ignore"):
            mean, middle = (np.where(known, columns, 0) * part for part in (parts, known))
            mean, middle = mean.sum(axis=0) / parts.sum(axis=0), middle.sum(axis=0) / known.sum(axis=0)
            # Two infinite values are no way apart.
            squares = np.where(known & (columns != middle), (columns - middle) ** 2, 0).sum(axis=0) / np.maximum(counts - 1, 1)
        found = [
            (f"{key} mean", np.where(counts > 0, mean, np.nan)),
            (f"{key} spread", np.where(counts > 1, squares**0.5, np.nan)),
        ]
        found = found[: min(len(own), 2)]
        for one in shown:
            if other := self.base_of(one.name, base):
                with np.errstate(invalid="ignore"):
                    found.append((f"{key} {one.name} less {other}", self.values[key, one.name] - self.values[key, other]))
        return found

    def common(self, key: str, methods: Sequence[str], items: Sequence[int]) -> list[int]:
        """Those of ``items`` that every method has a value of which has any: means over others do not stand beside each other."""
        columns = [self.values[key, name][list(items)] for name in methods]
        lacks = [np.isnan(column) for column in columns if not np.isnan(column).all()]
        return [item for item, apart in zip(items, np.any(lacks, axis=0), strict=True) if not apart] if lacks else list(items)

    def scored(self, key: str, methods: Sequence[Shown]) -> list[Shown]:
        """Those of ``methods`` that have a value at all: others are predicted alone."""
        return [one for one in methods if not np.isnan(self.values[key, one.name]).all()]

    def films(self, measure: Measure, methods: Sequence[str], items: Sequence[int]) -> list[tuple[str, float, int]]:
        """Each source of ``items`` by name, the mean of some methods over its items and how many these are; the worst first."""
        values = np.mean([self.values[measure.key, name] for name in methods], axis=0)
        of_source: dict[str, list[int]] = {}
        for item in items:
            if math.isfinite(values[item]):
                of_source.setdefault(self.sources[item], []).append(item)
        grouped = any(fact.name == frozen.GROUP for fact in self.facts)  # a group has a name that people gave it, a source an id
        told = [
            (source if grouped else self.names[own[0]], float(values[own].mean()), len(own)) for source, own in of_source.items()
        ]
        return sorted(told, key=lambda one: one[1], reverse=not measure.higher)

    def mean(self, key: str, method: str, items: Sequence[int]) -> Summary:
        """Mean of a method over some items, with its interval where there are enough sources for one."""
        metric = next(one.metric for one in self.quantities if one.key == key)
        bounds = metric_leaf(metric).bounds if metric in METRICS else _UNBOUNDED
        return self._mean(self.values[key, method], items, bounds)

    def _mean(
        self, values: npt.NDArray[np.float64], items: Sequence[int], bounds: tuple[float, float] = _UNBOUNDED
    ) -> Summary:  # fmt: skip
        chosen = [None if math.isnan(value) else value for value in values[list(items)].tolist()]
        return summarise(chosen, clusters=[self.sources[item] for item in items], bounds=bounds)


def of_dataset(folders: Folders, key: str, ids: Container[str] | None = None) -> Joined:
    """The items of a dataset, by default all, before anything is run on it."""
    root = folders.place(key)
    if ids is None:
        joined = _items_of(root)
    else:
        places = {at for at, item_id in enumerate(manifest.column(opened(root), "item_id")) if item_id in ids}
        joined = _of_items(opened(root), places)
    joined.kind, joined.root = "dataset", key
    return joined


def _sources(joined: Joined) -> str:
    return count(len(set(joined.sources)), "source")


def _items_of(root: Path) -> Joined:
    """All items of a dataset: read once until its manifest changes, whatever is put beside them."""
    return replace(
        _read_items(root, (root / manifest.MANIFEST).stat().st_mtime_ns), methods=[], quantities=[], values={}, failures=[]
    )


@lru_cache(maxsize=8)
def _read_items(root: Path, _changed: int) -> Joined:
    joined = _of_items(opened(root))
    joined.sentences = [f"{manifest.dataset_id(opened(root))}: {count(len(joined.ids), 'item')} of {_sources(joined)}."]
    return joined


def _of_items(dataset: Dataset, places: Container[int] | None = None) -> Joined:
    """Those items of a dataset, by default all, their facts and slices.

    Raises:
        InputError: too many to be looked at. VerifyError: there are others than the manifest says.
    """
    if len(dataset.items) > _MOST_ITEMS:
        raise InputError(
            f"{dataset.name} has {len(dataset.items):,} items, more than {_MOST_ITEMS:,}: freeze a part of it to look at it"
        )
    rows = [row for place, row in enumerate(dataset.items) if places is None or place in places]
    ids = [str(row["item_id"]) for row in rows]
    place = {item_id: at for at, item_id in enumerate(ids)}
    slices = [
        (part.name, part.rule, sorted(place[item_id] for item_id in part.item_ids if item_id in place))
        for part in in_reading_order(dataset.slices)
    ]
    names = [source_name(row.get("source_uri")) or str(row["source_id"]) for row in rows]
    sources = [frozen.source_of(row) for row in rows]
    kept = [one for one in slices if one[2]]
    return Joined(dataset.name, [], ids, sources, names, attributes_of(rows), kept, pairs=_pairs(dataset, rows))


def _pairs(dataset: Dataset, rows: Sequence[Plain]) -> dict[str, list[list[int]]]:
    found: dict[str, list[list[int]]] = {}
    facts = [row.get("attributes", {}) for row in rows]
    for axis in dataset.facts.get("axes", ()):
        of, fact = PAIR_OF + str(axis["name"]), LEVEL_OF + str(axis["name"])
        groups: dict[str, dict[str, int]] = {}
        for place, own in enumerate(facts):
            if own.get(of) is not None and own.get(fact) is not None:
                groups.setdefault(str(own[of]), {})[str(own[fact])] = place
        ordered = ([group[level] for level in map(str, axis["levels"]) if level in group] for group in groups.values())
        found[fact] = [group for group in ordered if len(group) > 1]
    return found


def of_workspace(folders: Folders, key: str) -> Joined:
    """The clips of a workspace, with what was measured of them, and why they were kept or dropped."""
    workspace = Workspace(folders.place(key), create=False)
    clips = workspace.table("clips", Clip)
    uris = {row.source_id: row.uri for row in workspace.table("sources", Source)}
    facts: dict[str, dict[str, Any]] = {clip.clip_id: {} for clip in clips}
    by_source: dict[str, dict[str, Any]] = {}
    for fact in workspace.table("attributes", Fact):
        if fact.name not in _FOR_PROGRAMS:
            (facts if fact.subject_id in facts else by_source).setdefault(fact.subject_id, {})[fact.name] = fact.value
    verdicts: dict[str, list[str]] = {}
    for row in workspace.table("selection", Selection):
        verdicts.setdefault(row.clip_id, []).extend([] if row.keep else [f"{row.rule}: {row.reason or 'dropped'}"])
    rows: list[Plain] = []
    for clip in clips:
        why = verdicts.get(clip.clip_id)
        kept = {} if why is None else {"kept": "kept" if not why else "dropped", "why dropped": "; ".join(why) or None}
        own = {**by_source.get(clip.source_id, {}), **facts[clip.clip_id]}
        size = {"frames": clip.frames, "fps": clip.fps, "width": clip.width, "height": clip.height}
        rows.append({**size, "attributes": {**kept, **own}})
    names = [source_name(uris.get(clip.source_id)) or clip.source_id for clip in clips]
    name, ids = workspace.path.name, [clip.clip_id for clip in clips]
    place = {clip_id: at for at, clip_id in enumerate(ids)}
    clip_of = {item.item_id: item.clip_id for item in workspace.table("items", Item)}
    slices = [
        (part.name, part.rule, sorted({place[clip_of[item_id]] for item_id in part.item_ids if clip_of.get(item_id) in place}))
        for part in in_reading_order(workspace.table("slices", Slice))
    ]
    of_clips = workspace.columns("clips", Clip, columns=["clip_id", "source_id"])
    sources = frozen.sources_of_clips(workspace, of_clips).to_pylist()
    joined = Joined(name, [], ids, sources, names, attributes_of(rows), [one for one in slices if one[2]])
    joined.kind, joined.root = "workspace", key
    dropped = sum(1 for why in verdicts.values() if why)
    joined.sentences = [f"Workspace {name}: {count(len(clips), 'clip')} of {_sources(joined)}, {dropped} dropped."]
    return joined


def of_board(folders: Folders, key: str) -> Joined:
    """A leaderboard's rows, one for each method, slice and region, with everything that they say as facts."""
    folder = folders.place(key)
    file = next((name for name in BOARDS if (folder / name).is_file()), "")
    if not file:
        raise InputError(f"{key!r} is no leaderboard")
    title, sentence, rows = attribute_at(BOARDS[file])(folder / file)
    names = [str(row["attributes"]["method"]) for row in rows]
    slices: dict[str, list[int]] = {}
    for place, row in enumerate(rows):
        slices.setdefault(str(row["attributes"]["slice"]), []).append(place)
    ids = [str(row["id"]) for row in rows]
    facts = [fact._replace(label=_board_label(fact.name, fact.label)) for fact in attributes_of(rows)]
    joined = Joined(title, [sentence], ids, names, names, facts, [(name, "", own) for name, own in slices.items()])
    joined.kind = "board"
    return joined


def _board_label(name: str, label: str) -> str:
    """A column of a leaderboard: metrics as everywhere, with `place` behind."""
    metric, dot, rest = name.partition(".")
    return "Items" if name == "n" else f"{metric_label(metric)}{', ' * bool(dot)}{rest}" if metric in METRICS else label


def of_runs(folders: Folders, things: Sequence[Thing], keys: Sequence[str], protocol: str = "") -> Joined:
    """The items that runs have in common, with the scores of all their methods under one protocol.

    Raises:
        InputError: they cannot be compared; the sentence says why.
    """
    known = {thing.key: thing for thing in things if thing.kind == "run"}
    runs = [known[key] for key in dict.fromkeys(keys) if key in known]
    if not runs or len(runs) < len(dict.fromkeys(keys)):
        raise InputError(f"{', '.join(key for key in keys if key not in known) or 'nothing'} is no run below these folders")
    for run in runs:
        if not run.dataset:
            raise InputError(f"the dataset of run {run.title} is not below these folders: give its folder too")
    chosen, protocols = _common_protocol(folders, runs, protocol)
    first = opened(folders.place(runs[0].dataset))
    joined, sentences = _common_items(folders, runs, first)
    joined.kind, joined.root, joined.protocol, joined.protocols = "run", runs[0].dataset, chosen, protocols
    rows, stale = _scores(folders, runs, chosen, first)
    _fill(joined, runs, rows, folders)
    joined.against = _against(folders, joined, runs)
    prints = list(dict.fromkeys(one for _, table in rows for one in table["fingerprint"].unique().to_pylist()))
    joined.fingerprint = next(iter(prints), "")
    told = f"All are measured by {chosen} (constants {joined.fingerprint})."
    if prints[1:]:
        each = " and ".join(prints)
        told = f"Not all are measured alike by {chosen} (constants {each}), so they do not compare: score all again."
    joined.sentences = [*sentences, told if chosen else "", *stale]
    for run, table in rows if chosen else []:
        lacking = sorted(_unscored(run, table, folders))
        if lacking or not table.num_rows:
            words = shlex.join(map(str, (folders.place(run.dataset), "--run", folders.place(run.key))))
            told = f"Not scored yet in {run.title} {'are' if lacking[1:] else 'is'} {' and '.join(lacking)}"
            told = told if table.num_rows else f"Nothing was scored yet in {run.title}"
            joined.sentences.append(f"{told}: `inpaintbench eval run --for scores {words}`.")
    if any(RANDOM_WEIGHTS in one for one in prints):
        joined.sentences.append("These scores were made with random weights, which say nothing of a method.")
    if (sources := len(set(joined.sources))) < ENOUGH_SOURCES:
        joined.sentences.append(f"{count(sources, 'source')}: an interval or a lead needs at least {ENOUGH_SOURCES}.")
    joined.sentences = [one for one in joined.sentences if one]
    return joined


def _against(folders: Folders, joined: Joined, runs: Sequence[Thing]) -> list[Against]:
    if len(runs) != 2:
        return []
    alike = runs[0].title == runs[1].title
    names = {run.key: run.key if alike else run.title for run in runs}
    labels = {run.key: {one.label for one in joined.methods if one.run == run.key} for run in runs}
    data = {run.key: manifest.dataset_id(opened(folders.place(run.dataset))) for run in runs}
    told = {run.key: {label: _settings(folders.place(run.key), label) for label in labels[run.key]} for run in runs}
    older, newer = sorted(runs, key=lambda run: run.date)  # of one date, the one that was chosen last is the newer
    found = []
    for run, base in ((newer, older), (older, newer)):
        own, before = told[run.key], told[base.key]
        parts = [
            f"{word}: {', '.join(sorted(ones))}"
            for word, ones in (("gone", before.keys() - own), ("new", own.keys() - before))
            if ones
        ]
        if data[run.key] != data[base.key]:
            parts.append(f"of {data[run.key]}, {names[base.key]} of {data[base.key]}")
        same = []
        for label in sorted(own.keys() & before.keys()):
            apart = [
                f"{name} {_setting(own[label], name)}, {_setting(before[label], name)} in {names[base.key]}"
                for name in sorted(own[label].keys() | before[label].keys())
                if own[label].get(name) != before[label].get(name)
            ]
            same += [] if apart else [label]
            parts += [f"{label}: {' and '.join(apart)}"] if apart else []
        parts += [f"{', '.join(same)}: the same version and settings"] if same else []
        title = f"{names[run.key]} less {names[base.key]}"
        dates = " less ".join(f"{names[one.key]} of {one.date[:19].replace('T', ' ')}" for one in (run, base))
        found.append(Against(base.key, title, f"{dates}. {'; '.join(parts)[:1].upper()}{'; '.join(parts)[1:]}."))
    return found


def _setting(told: Mapping[str, str], name: str) -> str:
    """The value of a setting in words; the usual one where it was not given and the method is what it was."""
    with suppress(InpaintBenchError, KeyError):
        leaf = METHODS.get(told["leaf"]) if name not in told and told["leaf"] in METHODS else None
        if leaf and leaf.version == told["version"]:
            return f"{inspect.signature(leaf).parameters[name].default} (the default)"
    return told.get(name, "by default")


def _settings(run: Path, label: str) -> dict[str, str]:
    """Version and settings of a method, as they stand beside its predictions; nothing where they are damaged."""
    workspace, step = Workspace(run, create=False), predict_step(label)
    if step not in workspace.steps("predictions"):  # a stranger's label may be a way to elsewhere
        return {}
    rows = workspace.columns("predictions", Prediction, step=step, columns=["method_version"])
    found = {"version": ", ".join(sorted(set(rows["method_version"].to_pylist())))}

    def add(told: Mapping[str, Any]) -> None:
        for name, value in told.items():
            if isinstance(value, Mapping):
                add(value)
            elif name not in _NO_SETTINGS:
                found[name] = str(value)

    with suppress(OSError, ValueError, InpaintBenchError):
        add(read_kept(run / "tables" / "predictions" / f"{step}{SETTINGS}"))
    return found


def _common_protocol(folders: Folders, runs: Sequence[Thing], wanted: str) -> tuple[str, list[str]]:
    """The protocol to compare under, and all that could be; empty where nothing was scored yet."""
    scored = {run.key: _fingerprints(folders.place(run.key)) for run in runs}
    having = {key: found for key, found in scored.items() if found}
    names = {run.key: run.title for run in runs}
    if not having:
        return "", []
    names = {key: names[key] for key in having}
    common = [name for name in next(iter(having.values())) if all(name in found for found in having.values())]
    if wanted and wanted not in common:
        raise InputError(f"not all of {', '.join(names.values())} were scored under {wanted}")
    if not common:
        each = "; ".join(f"{names[key]} under {', '.join(found)}" for key, found in having.items())
        raise InputError(f"these runs have no protocol in common ({each}): score one of them again with --protocol")
    same = [name for name in common if len({found[name] for found in having.values()}) == 1]
    if not same or (wanted and wanted not in same):
        name = wanted or common[0]
        each = ", ".join(f"{names[key]}: {'+'.join(sorted(found[name]))}" for key, found in having.items())
        again = "score them again with the same release and --precision"
        raise InputError(f"{name} had other constants, versions or precisions in these runs ({each}): {again}")
    usual_one = usual(opened(folders.place(runs[0].dataset)))
    return wanted or (usual_one if usual_one in same else same[0]), same


def _fingerprints(run: Path) -> dict[str, frozenset[str]]:
    """Protocol -> the fingerprints of its scores, those of a run in progress too."""
    found: dict[str, set[str]] = {}
    for protocol, fingerprint, _ in scored_in(Workspace(run, create=False)):
        found.setdefault(protocol, set()).add(fingerprint)
    for table in _partial(Workspace(run, create=False)):
        for row in table.select(["protocol", "fingerprint"]).group_by(["protocol", "fingerprint"]).aggregate([]).to_pylist():
            found.setdefault(row["protocol"], set()).add(row["fingerprint"])
    return {name: frozenset(ones) for name, ones in found.items()}


def _partial(workspace: Workspace) -> Iterator[pa.Table]:
    """Scores of steps that are not at their end: what their ledgers hold."""
    for plan, stored in in_progress(workspace):
        if plan.table == "scores":
            yield from (table for table in stored.rows(plan.entries(stored)) if table.num_rows)


def _common_items(folders: Folders, runs: Sequence[Thing], first: Dataset) -> tuple[Joined, list[str]]:
    """The items of the first dataset whose pixels all others have too, and sentences on how many these are."""
    roots = list(dict.fromkeys(run.dataset for run in runs))
    if len(roots) == 1:
        joined = _items_of(folders.place(roots[0]))
        return joined, joined.sentences
    whole = list(zip(*(manifest.column(first, name) for name in _IDENTITY), strict=True))
    places, changed = set(range(len(whole))), 0
    for root in roots[1:]:
        other = opened(folders.place(root))
        same = set(zip(*(manifest.column(other, name) for name in _IDENTITY), strict=True))
        ids = {identity[0] for identity in same}
        changed += sum(one not in same and one[0] in ids for one in whole)
        places &= {place for place, one in enumerate(whole) if one in same}
    names = " and ".join(manifest.dataset_id(opened(folders.place(root))) for root in roots)
    if not places:
        more = f"; {changed} have the same id and other pixels" if changed else ""
        raise InputError(f"{names} have no item in common{more}: their scores cannot be compared")
    joined = _of_items(first, places)
    told = f"{names}: compared on the {count(len(joined.ids), 'item')} of {_sources(joined)} that all have with the same pixels"
    return joined, [told + (f"; {count(changed, 'item')} changed in between." if changed else ".")]


def _scores(
    folders: Folders, runs: Sequence[Thing], protocol: str, dataset: Dataset
) -> tuple[list[tuple[Thing, pa.Table]], list[str]]:
    """The rows of each run under a protocol, and sentences on those that are older than what they are of."""
    found, stale = [], []
    for run in runs:
        workspace = Workspace(folders.place(run.key), create=False)
        paths = sorted((workspace.path / "tables" / "scores").glob("*.parquet"))
        rows = _rows(workspace.path, protocol, tuple((path.name, path.stat().st_mtime_ns) for path in paths))
        rows = pa.concat_tables([rows, *(_under(table.select(_READ), protocol) for table in _partial(workspace))])
        found.append((run, rows))
        for method in rows["method"].unique().to_pylist():
            # A stranger's method may have any name; only that of a table that is there leads to files.
            measured = next((path for path in paths if path.stem == score_step(protocol, method)), None)
            if measured is None:
                continue
            made = workspace.path / "tables" / "predictions" / f"{predict_step(method)}.parquet"
            later = made.is_file() and made.stat().st_mtime_ns > measured.stat().st_mtime_ns
            if later and is_stale(workspace, dataset, protocol=protocol, method=method):
                stale.append(f"The scores of {method} in {run.title} are older than its predictions: score it again.")
    return found, stale


def _under(rows: pa.Table, protocol: str) -> pa.Table:
    return rows.filter(pc.equal(rows["protocol"], protocol))


@lru_cache(maxsize=16)
def _rows(run: Path, protocol: str, _files: tuple[tuple[str, int], ...]) -> pa.Table:
    return _under(Workspace(run, create=False).columns("scores", Score, columns=_READ).select(_READ), protocol)


def _fill(joined: Joined, runs: Sequence[Thing], rows: Sequence[tuple[Thing, pa.Table]], folders: Folders) -> None:
    """Bring rows into columns: one for each quantity and method."""
    place = pa.array(joined.ids)
    labels = [(run, label) for run, table in rows for label in sorted(table["method"].unique().to_pylist())]
    unscored = [(run, label) for run, table in rows for label in _unscored(run, table, folders)]
    labels += unscored
    often, titles = Counter(label for _, label in labels), Counter(run.title for run, _ in rows)
    references = {run.key: references_in(Workspace(folders.place(run.key), create=False)) for run in runs}
    for run, label in labels:
        also = (label, f"{label} · {run.title}", f"{label} · {run.key}", f"{label} · {folders.place(run.key).name}")
        name = also[0 if often[label] < 2 else 1 if titles[run.title] < 2 else 2]
        joined.methods.append(Shown(name, label, run.key, label in references[run.key], also))
    joined.methods.sort(key=lambda one: one.reference)
    of = {(one.run, one.label): one.name for one in joined.methods}
    at = {one.name: number for number, one in enumerate(joined.methods)}
    found: dict[Quantity, None] = {}
    for run, table in rows:
        spots = pc.index_in(table["item_id"], value_set=place)
        table = table.append_column("spot", spots).filter(pc.is_valid(spots))
        codes = pc.binary_join_element_wise(table["metric"], table["region"], table["method"], "\n")
        coded = flat(codes).dictionary_encode()
        numbers, order = coded.indices.to_numpy(), np.argsort(coded.indices.to_numpy(), kind="stable")
        ends = np.searchsorted(numbers[order], np.arange(len(coded.dictionary) + 1))
        values = flat(table["value"]).to_numpy(zero_copy_only=False).astype(np.float64)
        spot = flat(table["spot"]).to_numpy(zero_copy_only=False)
        for number, code in enumerate(coded.dictionary.to_pylist()):
            metric, region, label = code.split("\n", 2)
            quantity, inside = Quantity(metric, region), order[ends[number] : ends[number + 1]]
            if quantity.of_sets:
                continue
            column = np.full(len(joined.ids), np.nan)
            column[spot[inside]] = values[inside]
            found[quantity] = None
            joined.values[quantity.key, of[run.key, label]] = column
    spots_of = {item_id: spot for spot, item_id in enumerate(joined.ids)}
    for run, label in unscored:
        workspace = Workspace(folders.place(run.key), create=False)
        going = [
            plan.refused(plan.entries(stored)) for plan, stored in in_progress(workspace) if plan.step == predict_step(label)
        ]
        refused = predictions_of(workspace, label)[1] | {row.subject_id: row.reason for rows in going for row in rows}
        joined.failures += [(at[of[run.key, label]], spots_of[one], why) for one, why in refused.items() if one in spots_of]
    there = {key for (key, _), column in joined.values.items() if not np.isnan(column).all()}
    joined.values = {of_one: column for of_one, column in joined.values.items() if of_one[0] in there}
    quantities = _in_order([one for one in found if one.key in there], joined.protocol)
    joined.quantities = list(map(measure_of, quantities))
    for quantity in quantities:
        for one in joined.methods:
            joined.values.setdefault((quantity.key, one.name), np.full(len(joined.ids), np.nan))
    if quantities and joined.protocol in PROTOCOLS:
        default = first_shown([one for one in quantities if one.ranked] or quantities, PROTOCOLS.get(joined.protocol))
        joined.default = default.key if default in quantities else quantities[0].key
        for run, table in rows:
            lacking = table.filter(pc.equal(pc.binary_join_element_wise(table["metric"], table["region"], "/"), joined.default))
            labels_of = {label: at[name] for (key, label), name in of.items() if key == run.key}
            joined.failures += _failures(lacking, labels_of, spots_of)


def _unscored(run: Thing, rows: pa.Table, folders: Folders) -> list[str]:
    """Methods of a run that have no rows: those that predicted, whatever came of it, and those that predict now."""
    workspace = Workspace(folders.place(run.key), create=False)
    steps = [*workspace.steps("predictions"), *workspace.steps("rejected"), *(plan.step for plan, _ in in_progress(workspace))]
    labels = dict.fromkeys(label for step in steps if (label := predicted_label(step)) is not None)
    return [label for label in labels if label not in set(rows["method"].unique().to_pylist())]


def _in_order(found: Sequence[Quantity], protocol: str) -> list[Quantity]:
    metrics = list(PROTOCOLS.get(protocol).metrics) if protocol in PROTOCOLS else []
    known = {name: place for place, name in enumerate(metrics)}
    return sorted(found, key=lambda one: (known.get(one.metric, len(known)), one.metric, one.region != "hole", one.region))


def _failures(rows: pa.Table, methods: Mapping[str, int], places: Mapping[str, int]) -> list[tuple[int, int, str]]:
    """Each item of a method that lacks a value, with the reason."""
    bad = rows.filter(pc.and_(pc.is_null(rows["value"]), pc.not_equal(rows["reason"], NOT_RUN)))
    told = zip(*(bad[name].to_pylist() for name in ("method", "item_id", "reason")), strict=True)
    return sorted((methods[method], places[item_id], reason) for method, item_id, reason in told if item_id in places)


def progress(workspace: Workspace) -> list[dict[str, Any]]:
    """Of steps that are not at their end: what they are called, how many tasks are done, and how many there are."""
    return [
        {"step": plan.step, "done": plan.entries(stored).num_rows, "tasks": len(plan.tasks)}
        for plan, stored in in_progress(workspace)
    ]
