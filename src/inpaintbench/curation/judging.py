"""Verdicts of rules on columns of facts: reasons in words, counts of dropped clips, the stored table ``selection``.

And what other rules would change, from stored measurements alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from inpaintbench.curation.facts import Column, Facts, Flags, is_text, require_measured
from inpaintbench.curation.rules import DATE, Rule, outside, parse_label, value_text
from inpaintbench.errors import InputError
from inpaintbench.executors.base import Rejection
from inpaintbench.lazily import lazily
from inpaintbench.steps import SELECT
from inpaintbench.tables import last_places, schema_of
from inpaintbench.types import Attribute, Clip, Selection, Source
from inpaintbench.workspace import Workspace

pc = lazily("pyarrow.compute")

# The reason of a clip that waits for people: neither kept nor refused.
NO_ANSWER = "no answer yet"
_COMPARE = {"at_least": "greater_equal", "above": "greater", "at_most": "less_equal", "below": "less"}


@dataclass(frozen=True, eq=False)
class Verdict:
    """Verdicts of one rule on n clips."""

    label: str
    rule: Rule | None
    """None for what chose the clips in another way, such as by rank."""
    column: Column
    keep: Flags
    """``[n]``."""
    waiting: Flags
    """``[n]``, not kept because nobody has answered."""
    flagged: Flags
    """``[n]``, kept though outside the rule, which only marks."""
    said: pa.Array | None = None
    """``[n]``, the reasons, where they are stored already."""

    @property
    def refused(self) -> Flags:
        """``[n]``, neither kept nor waiting."""
        return ~self.keep & ~self.waiting

    @property
    def lacking(self) -> Flags:
        """``[n]``, without a value, those that wait and those that a stored verdict is not about left out."""
        asked = self.column.found if self.said is not None else np.ones(len(self.keep), bool)
        return ~self.column.known & ~self.waiting & asked

    def reasons(self, places: npt.NDArray[np.int64]) -> list[str]:
        """Return why the clips at ``places``, which are not kept, are not."""
        if self.said is not None or self.rule is None:
            return [] if self.said is None else [text or "" for text in self.said.take(pa.array(places)).to_pylist()]
        numbers = self.column.numbers[places].tolist()
        taken = pa.array(places)
        texts, measured = self.column.texts.take(taken).to_pylist(), self.column.reasons.take(taken).to_pylist()
        waits = self.waiting[places].tolist()
        known = self.column.known[places].tolist()
        return [
            NO_ANSWER
            if waits[at]
            else outside(self.rule, texts[at] if texts[at] is not None else numbers[at])
            if known[at]
            else f"{self.rule.subject} has no value: {measured[at] or 'not measured'}"
            for at in range(len(numbers))
        ]


@dataclass(frozen=True)
class RuleCount:
    """Counts of clips that a rule judged and dropped."""

    label: str
    judged: int
    """Clips with a value."""
    kept: int
    dropped: int
    dropped_alone: int
    """By this rule and no other."""
    missing: int
    """Clips without a value, those that wait left out."""
    waiting: int
    flagged: int
    """Number of clips that the rule marks."""

    @property
    def dropped_among_others(self) -> int:
        """Clips that another rule drops as well."""
        return self.dropped - self.dropped_alone


@dataclass(frozen=True)
class Unasked:
    """A rule that had no value on some clips, and so neither drops nor marks them unless it says so."""

    rule: str
    """Its name, or its expression where it has none."""
    missing: int
    clips: int
    reason: str
    """Why most of those have none."""

    @property
    def words(self) -> str:
        """One line of it."""
        return f"the rule {self.rule!r} had no value on {self.missing:,} of {self.clips:,} clips: {self.reason}"


class Judged:
    """Verdicts of several rules on the same clips."""

    def __init__(self, facts: Facts, verdicts: Sequence[Verdict]) -> None:
        self.facts, self.verdicts = facts, tuple(verdicts)
        self.clip_ids = facts.clip_ids

    @property
    def kept(self) -> Flags:
        """``[n]``, fulfils every rule."""
        every: Flags = np.logical_and.reduce([verdict.keep for verdict in self.verdicts] or [np.ones(len(self.facts), bool)])
        return every

    @property
    def dropped(self) -> Flags:
        """``[n]``, refused by a rule."""
        some: Flags = np.logical_or.reduce([verdict.refused for verdict in self.verdicts] or [np.zeros(len(self.facts), bool)])
        return some

    @property
    def waiting(self) -> Flags:
        """``[n]``, refused by no rule, but somebody has to answer first."""
        return ~self.kept & ~self.dropped

    def counts(self) -> list[RuleCount]:
        """One for each rule, in order."""
        drops = np.array([verdict.refused for verdict in self.verdicts], bool).reshape(len(self.verdicts), len(self.facts))
        alone = drops & (drops.sum(axis=0) == 1)
        return [
            RuleCount(
                label=verdict.label,
                judged=int(verdict.column.known.sum()),
                kept=int(verdict.keep.sum()),
                dropped=int(drops[at].sum()),
                dropped_alone=int(alone[at].sum()),
                missing=int(verdict.lacking.sum()),
                waiting=int(verdict.waiting.sum()),
                flagged=int(verdict.flagged.sum()),
            )
            for at, verdict in enumerate(self.verdicts)
        ]

    def rows(self) -> pa.Table:
        """Rows of ``Selection``, clip after clip, each rule in order."""
        parts = []
        for verdict in self.verdicts:
            outside = np.flatnonzero(~verdict.keep | verdict.flagged)
            place = np.full(len(self.facts), -1, np.int64)
            place[outside] = np.arange(len(outside))
            said = pa.array(verdict.reasons(outside), pa.string())
            reasons = said.take(pa.array(place, mask=place < 0)) if len(said) else pa.nulls(len(place), pa.string())
            numbers, labels = verdict.column.numbers, pa.repeat(pa.scalar(verdict.label), len(self.facts))
            stated = [pa.array(numbers, mask=np.isnan(numbers)), verdict.column.texts, pa.array(verdict.keep), reasons]
            parts.append(pa.Table.from_arrays([self.clip_ids, labels, *stated], schema=schema_of(Selection)))
        whole = pa.concat_tables([schema_of(Selection).empty_table(), *parts]).combine_chunks()
        # From one rule after the other to one clip after the other.
        order = np.arange(whole.num_rows).reshape(len(parts), len(self.facts)).T.ravel()
        return whole.take(pa.array(order)) if parts else whole


def judge(facts: Facts, rules: Sequence[Rule]) -> Judged:
    """Apply every rule to every clip."""
    verdicts = []
    for rule in rules:
        column = facts.of(rule.subject)
        # `[n]`, which values fulfil the rule; anything where there is none.
        inside = np.ones(len(column.numbers), bool)
        for key, bound in rule.bounds.items():
            if isinstance(bound, str):
                # "2019" stands for the whole year: only as much of a date is compared as the bound says.
                begun = pc.utf8_slice_codeunits(column.texts, 0, len(bound))
                inside &= _flags(pc.match_substring_regex(column.texts, DATE))
                inside &= _flags(pc.call_function(_COMPARE[key], [begun, bound]))
            else:
                with np.errstate(invalid="ignore"):
                    inside &= getattr(np, _COMPARE[key])(column.numbers, bound)
        if rule.equals is not None:
            inside &= _among((rule.equals,), column)
        if rule.one_of is not None:
            inside &= _among(rule.one_of, column)
        if rule.none_of is not None:
            inside &= ~_among(rule.none_of, column)
        keep = np.where(column.known, inside, rule.missing == "keep") | rule.flag
        waiting = ~column.found & ~keep if rule.answer is not None else np.zeros(len(keep), bool)
        verdicts.append(Verdict(rule.label, rule, column, keep, waiting, column.known & ~inside & rule.flag))
    return Judged(facts, verdicts)


def select_clips(workspace: Workspace, rules: Sequence[Rule], *, step: str = SELECT) -> Judged:
    """Apply rules to the clips of a workspace and write the table ``selection``; nothing is decoded.

    Raises:
        InputError: a rule on something that no clip has.
    """
    facts = Facts.of_workspace(workspace, {rule.subject for rule in rules})
    require_measured(facts, rules, workspace=workspace)
    judged = judge(facts, rules)
    workspace.write_columns("selection", step, judged.rows())
    return judged


def _among(values: Sequence[float | str], column: Column) -> Flags:
    numbers = [value for value in values if isinstance(value, float)]
    texts = [value for value in values if isinstance(value, str)]
    among: Flags = np.isin(column.numbers, numbers) | _flags(pc.is_in(column.texts, value_set=pa.array(texts, pa.string())))
    return among


def _flags(values: Any) -> Flags:
    flags: Flags = pc.fill_null(values, False).to_numpy(zero_copy_only=False).astype(bool)
    return flags


def stored_selection(workspace: Workspace, facts: Facts) -> Judged:
    """The decisions in ``workspace`` about the clips of ``facts``, a verdict for each rule; without any, all clips are kept.

    Clips that a rule has not judged are kept by it.
    """
    rows = workspace.columns("selection", Selection)
    verdicts = []
    for label in pc.unique(rows["rule"]).to_pylist():
        own = rows.filter(pc.equal(rows["rule"], label)).combine_chunks()
        clip_ids = own["clip_id"].combine_chunks()
        places = np.arange(len(facts)) if clip_ids.equals(facts.clip_ids) else last_places(clip_ids, facts.clip_ids)
        take = pa.array(places, mask=places < 0)
        value, text, kept, reason = (own[name].combine_chunks().take(take) for name in ("value", "value_text", "keep", "reason"))
        numbers = pc.fill_null(value, np.nan).to_numpy(zero_copy_only=False)
        column = Column(numbers, text, reason, places >= 0)
        keep = _flags(pc.fill_null(kept, True))
        waiting = ~keep & _flags(pc.equal(reason, NO_ANSWER))
        verdicts.append(Verdict(label, parse_label(label), column, keep, waiting, keep & is_text(reason), said=reason))
    return Judged(facts, verdicts)


def unasked(workspace: Workspace) -> list[Unasked]:
    """The rules by which the clips of ``workspace`` were chosen that had no value on some of them, in order."""
    judged = stored_selection(workspace, Facts.of_workspace(workspace, ()))
    facts = Facts.of_workspace(workspace, {verdict.rule.subject for verdict in judged.verdicts if verdict.rule})
    told = []
    for verdict in judged.verdicts:
        lacking = np.flatnonzero(verdict.lacking)
        if not len(lacking):
            continue
        if verdict.rule is None:
            reasons = verdict.reasons(lacking)
        else:
            reasons = facts.of(verdict.rule.subject).reasons.take(pa.array(lacking)).to_pylist()
        ((reason, _),) = Counter(reason or "not measured" for reason in reasons).most_common(1)
        name = verdict.rule.name if verdict.rule else None
        told.append(Unasked(name or verdict.label, len(lacking), len(facts), reason))
    return told


def refuse_unasked(workspace: Workspace) -> None:
    """What ``--strict-rules`` asks.

    Raises:
        InputError: a rule had no value on some clips of ``workspace``.
    """
    if lacking := unasked(workspace):
        raise InputError(
            f"{'; '.join(rule.words for rule in lacking)}; --strict-rules allows no clip without a value: see to the "
            "reason, switch a default rule of `build devil` off with --without-rule, or leave --strict-rules out"
        )


SOURCE_RULES = "source_rules"
# Of the attributes that are known of a source before it is cut.
PREFIX = "probe."


def source_rules(rules: Sequence[Rule]) -> list[Rule]:
    """The rules on what was probed."""
    return [rule for rule in rules if (rule.attribute or "").startswith(PREFIX)]


def refused_sources(sources: Sequence[Source], facts: Sequence[Attribute], rules: Sequence[Rule]) -> list[Rejection]:
    """The sources that break a rule on what was probed, each with the first reason; other rules are left out."""
    early = source_rules(rules)
    # A source is judged as if it were its own clip.
    whole = [Clip(row.source_id, row.source_id, 0, 0, 0.0, 0, 0, 0, "", "", "", None, 0.0) for row in sources]
    reasons: dict[int, str] = {}
    for verdict in judge(Facts.of_records(whole, facts), early).verdicts:
        places = np.flatnonzero(verdict.refused)
        for place, reason in zip(places.tolist(), verdict.reasons(places), strict=True):
            reasons.setdefault(place, reason)
    return [Rejection(sources[place].uri, SOURCE_RULES, sources[place].uri, reason) for place, reason in sorted(reasons.items())]


@dataclass(frozen=True)
class WhatIf:
    """The present selection beside the one that other rules would give."""

    rules: tuple[Rule, ...]
    """Rules that would be asked."""
    replaced: tuple[str, ...]
    """The present rules that would no longer apply."""
    now: Judged
    then: Judged

    @property
    def gained(self) -> Flags:
        """``[n]``, not kept now, but then."""
        return self.then.kept & ~self.now.kept

    @property
    def lost(self) -> Flags:
        """``[n]``, kept now, but not then."""
        return self.now.kept & ~self.then.kept

    def places(self, moved: Flags) -> list[int]:
        """The clips in ``moved``, those nearest to a new threshold first.

        Distances are in standard deviations of the attribute. For a clip that new rules drop, the one that it misses by most
        counts, and for any other the one that it meets by least.
        """
        clips = np.flatnonzero(moved)
        met, missed = np.full(len(moved), np.inf), np.full(len(moved), -np.inf)
        for verdict in self.then.verdicts:
            if verdict.rule in self.rules:
                numbers = verdict.column.numbers
                measured = numbers[np.isfinite(numbers)]
                deviation = (float(measured.std()) if len(measured) else 0.0) or 1.0
                distance = np.full(len(numbers), np.inf)
                for bound in verdict.rule.bounds.values() if verdict.rule else ():
                    if isinstance(bound, float):
                        distance = np.fmin(distance, np.abs(numbers - bound) / deviation)
                met, missed = np.fmin(met, distance), np.fmax(missed, np.where(verdict.keep, -np.inf, distance))
        distance = np.where(np.isneginf(missed), met, missed)
        order: list[int] = clips[np.argsort(distance[clips], kind="stable")].tolist()
        return order

    def values(self, place: int) -> list[tuple[str, str]]:
        """(attribute, value) of the clip at ``place`` for every new rule; a dash where it has no value."""
        values = []
        for rule in self.rules:
            column = self.then.facts.of(rule.subject)
            number, text = float(column.numbers[place]), column.texts[place].as_py()
            known = text is not None or not np.isnan(number)
            values.append((rule.subject, value_text(number if text is None else text) if known else "–"))
        return values

    def why(self, place: int) -> list[str]:
        """Return why the clip at ``place`` is not kept now, or would not be kept then."""
        outside = self.now if self.gained[place] else self.then
        return why_not(outside.verdicts, place)


def why_not(verdicts: Sequence[Verdict], place: int) -> list[str]:
    """Every reason against the clip at ``place``."""
    at = np.array([place])
    return [reason for verdict in verdicts if not verdict.keep[place] for reason in verdict.reasons(at)]


def what_if(workspace: Workspace, rules: Sequence[Rule]) -> WhatIf:
    """Ask ``rules`` of all clips in place of the present rules on the same attributes; the other present rules stay.

    Raises:
        InputError: a rule on something that no clip has.
    """
    subjects = {rule.subject for rule in rules}
    facts = Facts.of_workspace(workspace, subjects)
    require_measured(facts, rules, workspace=workspace)
    now = stored_selection(workspace, facts)
    gone = [verdict.label for verdict in now.verdicts if verdict.rule is not None and verdict.rule.subject in subjects]
    staying = [verdict for verdict in now.verdicts if verdict.label not in gone]
    then = Judged(facts, [*staying, *judge(facts, rules).verdicts])
    return WhatIf(tuple(rules), tuple(gone), now, then)
