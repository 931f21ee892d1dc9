"""Effect of other thresholds, from stored measurements: nothing is measured, and nothing is written to any table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from inpaintbench.curation.facts import Facts, Flags, require_measured
from inpaintbench.curation.judging import Judged, Verdict, judge, stored_selection
from inpaintbench.curation.rules import Rule, value_text
from inpaintbench.workspace import Workspace


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
                distance = _distance(verdict)
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


def _distance(verdict: Verdict) -> npt.NDArray[np.float64]:
    """``[n]``, from each clip's value to the nearest threshold of one rule, in standard deviations; inf where there is none."""
    numbers = verdict.column.numbers
    known = numbers[np.isfinite(numbers)]
    spread = float(known.std()) if len(known) else 0.0
    distance = np.full(len(numbers), np.inf)
    for bound in verdict.rule.bounds.values() if verdict.rule else ():
        if isinstance(bound, float):
            distance = np.fmin(distance, np.abs(numbers - bound) / (spread or 1.0))
    return distance


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
