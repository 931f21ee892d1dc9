"""Stored facts of every clip, as columns in the order of the table ``clips``."""

from __future__ import annotations

import json
import shlex
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import Any
from urllib.parse import quote

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from inpaintbench.catalogue import unknown_name
from inpaintbench.curation.attributes import ATTRIBUTES
from inpaintbench.curation.rules import ANSWER_PREFIX, Rule
from inpaintbench.errors import InputError
from inpaintbench.frozen import GROUP
from inpaintbench.lazily import lazily
from inpaintbench.tables import flat, last_places, schema_of, to_columns
from inpaintbench.types import Answer, Attribute, Clip, Download, Plain, Source
from inpaintbench.workspace import Workspace

pc = lazily("pyarrow.compute")

Flags = npt.NDArray[np.bool_]
OF_CLIP, OF_SOURCE = "clip.", "source."
_ATTRIBUTE_COLUMNS = ("subject_id", "name", "value", "value_text", "reason")
# Half of the bytes of a clip's row, and of no use to a rule.
_HASHES = {"yuv_sha256", "rgb_sha256"}
_NOT_RULED = {*_HASHES, "clip_id", "source_id", "sha256", "blob", "parts", "details", "licence_history"}


@dataclass(frozen=True, eq=False)
class Column:
    """One fact of n clips: a number, a text, or neither with the reason."""

    numbers: npt.NDArray[np.float64]
    """``[n]``, NaN where there is none."""
    texts: pa.Array
    """``[n]``, null where there is none."""
    reasons: pa.Array
    """``[n]``, why there is no value; null where nobody has said so."""
    found: Flags
    """``[n]``, whether there is a row at all."""

    @property
    def known(self) -> Flags:
        """``[n]``, whether there is a value."""
        return ~np.isnan(self.numbers) | is_text(self.texts)


class Facts:
    """Facts of clips by name; columns are made when they are asked for.

    Args:
        clips: rows of ``Clip``.
        attributes: rows of ``Attribute``, at least those asked for; of several rows of one clip and name the last counts.
        answers: rows of ``Answer``.
        sources: rows of ``Source``.
        downloads: rows of ``Download``.
    """

    def __init__(
        self, clips: pa.Table, attributes: pa.Table, *, answers: pa.Table | None = None, sources: pa.Table | None = None,
        downloads: pa.Table | None = None,
    ) -> None:  # fmt: skip
        self.clips, self._attributes = clips, attributes
        self._answers = _empty(Answer) if answers is None else answers
        self._sources = _empty(Source) if sources is None else kept_sources(sources)
        self._downloads = _empty(Download) if downloads is None else downloads
        self.clip_ids = flat(clips["clip_id"])
        self._columns: dict[str, Column] = {}

    @classmethod
    def of_records(cls, clips: Sequence[Clip], attributes: Sequence[Attribute], *, answers: Sequence[Answer] = ()) -> Facts:
        """From records in memory."""
        return cls(to_columns(clips, Clip), to_columns(attributes, Attribute), answers=to_columns(answers, Answer))

    @classmethod
    def of_workspace(cls, workspace: Workspace, names: Collection[str] | None = None) -> Facts:
        """From the tables of a workspace; ``names`` limits which attributes are read."""
        where = None if names is None else ("name", {*names, GROUP})
        columns = [name for name in schema_of(Clip).names if name not in _HASHES]
        return cls(
            workspace.columns("clips", Clip, columns=columns),
            workspace.columns("attributes", Attribute, columns=_ATTRIBUTE_COLUMNS, where=where),
            answers=workspace.columns("answers", Answer),
            sources=workspace.columns("sources", Source),
            downloads=workspace.columns("downloads", Download),
        )

    def __len__(self) -> int:
        return len(self.clip_ids)

    def of(self, subject: str) -> Column:
        """The column of ``subject``: an attribute of the clips or else of their sources, or ``answer:QUESTION``."""
        if subject not in self._columns:
            self._columns[subject] = self._make(subject)
        return self._columns[subject]

    @property
    def sources(self) -> list[str]:
        """Source of each clip, as ``frozen.sources_of_clips`` has it."""
        return [
            group or source
            for group, source in zip(self.of(GROUP).texts.to_pylist(), self.clips["source_id"].to_pylist(), strict=True)
        ]

    def attributes_of_clips(self) -> list[str]:
        """Names of all attributes that clips themselves have, sorted."""
        own = self._attributes.filter(pc.is_in(self._attributes["subject_id"], value_set=self.clip_ids))
        return sorted(pc.unique(own["name"]).to_pylist())

    def _make(self, subject: str) -> Column:
        if subject.startswith(ANSWER_PREFIX):
            mask = pc.equal(self._answers["question"], subject.removeprefix(ANSWER_PREFIX))
            # Of several rows of a subject the last counts, and a draw must not hide an answer.
            rows = self._answers.filter(mask)
            rows = pa.concat_tables([rows.filter(pc.is_null(rows["answer"])), rows.filter(pc.is_valid(rows["answer"]))])
            nothing = pa.nulls(rows.num_rows, pa.float64())
            return self._aligned(rows["subject_id"], nothing, rows["answer"], rows["reason"])
        rows = self._attributes.filter(pc.equal(self._attributes["name"], subject))
        if rows.num_rows:
            return self._aligned(rows["subject_id"], rows["value"], rows["value_text"], rows["reason"])
        # A column of the tables ``clips``, ``sources`` or ``downloads``, or a detail of the latter.
        name = subject.removeprefix(OF_CLIP)
        if subject.startswith(OF_CLIP) and name in self.clips.column_names and name not in _NOT_RULED:
            return self._aligned(self.clips["clip_id"], *_number_or_text(self.clips[name]))
        name = subject.removeprefix(OF_SOURCE)
        if subject.startswith(OF_SOURCE) and name not in _NOT_RULED:
            if name in self._sources.column_names and self._sources.num_rows:
                return self._aligned(self._sources["source_id"], *_number_or_text(self._sources[name]))
            rows, subjects = self._downloads_of_sources()
            if name in rows.column_names:
                return self._aligned(subjects, *_number_or_text(rows[name]))
            details = [json.loads(text).get(name) for text in rows["details"].to_pylist()]
            stated = [(source, value) for source, value in zip(subjects.to_pylist(), details, strict=True) if value is not None]
            numbers = [float(value) if isinstance(value, int | float) else None for _, value in stated]
            texts = [None if isinstance(value, int | float) else str(value) for _, value in stated]
            subjects_stated = pa.array([source for source, _ in stated], pa.string())
            return self._aligned(
                subjects_stated, pa.array(numbers, pa.float64()), pa.array(texts, pa.string()), pa.nulls(len(stated), pa.string())
            )
        return self._aligned(*(pa.nulls(0, kind) for kind in (pa.string(), pa.float64(), pa.string(), pa.string())))

    def _downloads_of_sources(self) -> tuple[pa.Table, pa.Array]:
        """The rows of what became a source, one each, and the ids of the sources."""
        sources = {tuple(row): identity for *row, identity in _rows(self._sources, "uri", "sha256", "licence", "source_id")}
        first: dict[str, int] = {}
        for place, (fetcher, name, *rest) in enumerate(_rows(self._downloads, "fetcher", "name", "sha256", "licence")):
            source_id = sources.get((uri_of(fetcher, name), *rest)) if rest[0] else None
            if source_id is not None:
                first.setdefault(source_id, place)
        return self._downloads.take(pa.array(first.values(), pa.int64())), pa.array(first, pa.string())

    def _aligned(self, subjects: Any, numbers: Any, texts: Any, reasons: Any) -> Column:
        """Rows brought into the order of the clips: a clip's own, else its source's."""
        subjects = flat(subjects)
        if subjects.equals(self.clip_ids):  # nearly always, and a hundred times faster
            places = np.arange(len(subjects))
        else:
            places = last_places(subjects, self.clip_ids)
            if (places < 0).any():
                places = np.where(places >= 0, places, last_places(subjects, flat(self.clips["source_id"])))
        present = places >= 0
        take = pa.array(places, mask=~present)
        taken = np.asarray(pc.fill_null(pc.take(flat(numbers), take), np.nan).to_numpy(zero_copy_only=False), np.float64)
        return Column(taken, pc.take(flat(texts), take), pc.take(flat(reasons), take), present)


def kept_sources(sources: pa.Table) -> pa.Table:
    """Rows of ``Source``, the first of each content: the one that ``footage.distinct`` keeps."""
    ids = flat(sources["source_id"])
    firsts = pc.index_in(pc.unique(ids), value_set=ids)
    return sources.take(firsts)


def is_text(texts: pa.Array) -> Flags:
    """``[n]``, where there is a text."""
    flags: Flags = pc.is_valid(texts).to_numpy(zero_copy_only=False).astype(bool)
    return flags


def require_measured(facts: Facts, rules: Sequence[Rule], *, workspace: Workspace) -> None:
    """Refuse rules on what no clip has.

    Raises:
        InputError: names the command that measures it, or the nearest name that there is.
    """
    for rule in rules:
        if rule.answer is not None or not len(facts) or facts.of(rule.subject).found.any():
            continue
        if rule.subject in ATTRIBUTES:
            command = f"`inpaintbench curation measure {shlex.quote(str(workspace.path))} --attribute {rule.subject}`"
            raise InputError(f"no clip has the attribute {rule.subject!r} yet; {command} measures it")
        # Names of everything that clips and sources have, and nothing else has.
        rows = workspace.columns("attributes", Attribute, columns=["subject_id", "name"])
        subjects = pa.concat_arrays([facts.clip_ids, pc.unique(facts.clips["source_id"])])
        stored = pc.unique(rows.filter(pc.is_in(rows["subject_id"], value_set=subjects))["name"]).to_pylist()
        tables = ((OF_CLIP, Clip), (OF_SOURCE, Source))
        columns = [f"{prefix}{one.name}" for prefix, record in tables for one in fields(record) if one.name not in _NOT_RULED]
        raise InputError(unknown_name("attribute", rule.subject, sorted({*stored, *ATTRIBUTES, *columns})))


def _number_or_text(column: Any) -> tuple[Any, Any, Any]:
    nothing = pa.nulls(len(column), pa.string())
    if pa.types.is_string(column.type):
        return pa.nulls(len(column), pa.float64()), column, nothing
    return pc.cast(column, pa.float64()), nothing, nothing


def _rows(table: pa.Table, *columns: str) -> Iterator[tuple[Any, ...]]:
    return zip(*(table[name].to_pylist() for name in columns), strict=True)


def _empty(record: type) -> pa.Table:
    return schema_of(record).empty_table()


# What is known of footage that was fetched: its name as a source, and what upstream says later of its licence.
CHECKS = "licence_checks"


@dataclass(frozen=True)
class LicenceCheck:
    """Present licence of one obtained piece of footage, by upstream. The proof of then stays in ``downloads``."""

    name: str
    fetcher: str
    status: str
    """``same``; ``changed``; ``gone`` (a tombstone: upstream has it no longer); ``refused`` (upstream does not say); ``unlisted``
    (its whole address is no longer listed, so that nobody could be asked); ``failed`` (for now)."""
    reason: str | None
    """Reason why there is no licence of now; None where there is one."""
    licence_then: str | None
    licence_now: str | None
    licence_url_now: str | None
    licence_history: Plain = field(default_factory=dict)
    """``{"changes": [...]}`` as upstream records them."""
    obtained_at: str | None = None
    checked_at: str | None = None
    """Both UTC, ISO 8601."""

    @property
    def words(self) -> str | None:
        """The change in a few words; None where nothing is known to have changed."""
        outcomes = {"changed": f"changed to {self.licence_now or 'none stated'}", "gone": "gone", "refused": "not told any more",
                "unlisted": "no longer listed"}  # fmt: skip
        return outcomes.get(self.status)


def latest_checks(workspace: Workspace) -> dict[str, LicenceCheck]:
    """Name as a source (see ``uri_of``) -> the last check that got an answer."""
    latest: dict[str, LicenceCheck] = {}
    for check in workspace.table(CHECKS, LicenceCheck):  # earlier ones first, by the names of their tables
        uri = uri_of(check.fetcher, check.name)
        if check.status != "failed" and (uri not in latest or (check.checked_at or "") >= (latest[uri].checked_at or "")):
            latest[uri] = check
    return latest


def uri_of(fetcher: str, name: str) -> str:
    """Return how a download is named as a source: ``<fetcher>/<name>``, percent-encoded."""
    return quote(f"{fetcher}/{name}")
