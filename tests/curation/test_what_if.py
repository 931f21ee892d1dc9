"""Other thresholds, told from the table of the present selection."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from selection_world import RULES, fill, kept_ids

from inpaintbench.curation.facts import Facts
from inpaintbench.curation.judging import WhatIf, select_clips, stored_selection, what_if
from inpaintbench.curation.rules import Rule, parse_rules
from inpaintbench.errors import InputError
from inpaintbench.types import Attribute, Selection
from inpaintbench.workspace import Workspace


def hashes(workspace: Workspace) -> dict[str, str]:
    paths = [path for path in workspace.path.rglob("*") if path.is_file()]
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


def ids(change: WhatIf, moved: object) -> set[str]:
    return {clip_id for clip_id, flag in zip(change.now.clip_ids.to_pylist(), moved, strict=True) if flag}


def test_gained_and_lost_are_what_applying_the_rules_gives(workspace: Workspace) -> None:
    fill(workspace)
    before, untouched = kept_ids(workspace), hashes(workspace)
    new = parse_rules("cut_score <= 0.7 or missing and crispness >= 0.8")
    change = what_if(workspace, new)
    assert hashes(workspace) == untouched
    select_clips(workspace, [*new, RULES[2]])
    after = kept_ids(workspace)
    assert before - after
    assert ids(change, change.gained) == after - before
    assert ids(change, change.lost) == before - after
    assert change.replaced == (RULES[0].label, RULES[1].label)
    assert ids(change, change.then.kept) == after


def test_a_rule_on_something_else_comes_on_top(workspace: Workspace) -> None:
    fill(workspace)
    change = what_if(workspace, parse_rules("kind = plain"))
    assert change.replaced == ()
    assert not change.gained.any()
    assert ids(change, change.then.kept) == {name for name in kept_ids(workspace) if int(name[1:]) % 4 == 0}


def test_values_and_reasons_nearest_first(workspace: Workspace) -> None:
    fill(workspace)
    select_clips(workspace, RULES[:1])
    change = what_if(workspace, parse_rules("cut_score < 0.75 or missing"))
    places = change.places(change.gained)
    assert places == [8, 7, 3]
    assert change.values(8) == [("cut_score", "0.6667")]
    assert change.why(8) == ["cut_score 0.6667 is above 0.5"]
    assert change.values(3) == [("cut_score", "–")]
    assert change.why(3) == ["cut_score has no value: too dark"]
    tighter = what_if(workspace, parse_rules("cut_score < 0.25"))
    assert tighter.why(4) == ["cut_score 0.3333 is not below 0.25"]


def test_decisions_by_rank_stay(workspace: Workspace) -> None:
    """A rule that is no threshold cannot be replaced by one."""
    fill(workspace)
    rows = [Selection("c00", "covered among the highest 70%", 0.1, False, "covered 0.1 is not")]
    workspace.write_table("selection", "select", rows, Selection)
    change = what_if(workspace, parse_rules("cut_score >= 0"))
    assert ids(change, change.now.kept) == {f"c{n:02}" for n in range(1, 12)}
    assert ids(change, change.lost) == {"c03"}
    stored = stored_selection(workspace, Facts.of_workspace(workspace))
    assert (stored.verdicts[0].rule, stored.counts()[0].dropped) == (None, 1)


def test_without_a_selection_everything_is_kept_now(workspace: Workspace) -> None:
    fill(workspace)
    workspace.write_table("selection", "select", [], Selection)
    change = what_if(workspace, parse_rules("cut_score <= 0.5"))
    assert (change.now.kept.sum(), change.then.kept.sum(), change.lost.sum()) == (12, 6, 6)


def test_unmeasured_names_are_told(workspace: Workspace) -> None:
    with pytest.raises(InputError, match="'crispnes', did you mean 'crispness'"):
        what_if(fill(workspace), parse_rules("crispnes > 1"))


def test_those_that_miss_the_new_thresholds_by_least_come_first(workspace: Workspace) -> None:
    """Attributes of any unit are compared by their spread, and a threshold that a clip meets does not make it near."""
    fill(workspace)
    wide = [Attribute(f"c{n:02}", "weight", 1000.0 + 100 * n, None, "weight", "1") for n in range(12)]
    workspace.write_table("attributes", "measure.weight", wide, Attribute)
    select_clips(workspace, [Rule(attribute="crispness", at_least=0.0)])
    change = what_if(workspace, parse_rules("weight >= 1400 and crispness >= 0.4"))
    # Lost are 0..3 by their weight and 8..11 by their crispness, which falls by a twelfth a clip: 0.333 at clip 8.
    weights = {n: (400 - 100 * n) / (100 * np.std(np.arange(12))) for n in range(4)}
    crisps = {n: (0.4 - (1 - n / 12)) / (np.std(np.arange(12)) / 12) for n in range(8, 12)}
    distances = weights | crisps
    assert change.places(change.lost) == sorted(distances, key=lambda n: (distances[n], n))


def test_those_that_are_gained_narrowly_come_first(workspace: Workspace) -> None:
    fill(workspace)
    select_clips(workspace, [Rule(attribute="crispness", at_least=0.9)])
    change = what_if(workspace, parse_rules("crispness >= 0.5"))
    assert change.places(change.gained) == [6, 5, 4, 3, 2]
