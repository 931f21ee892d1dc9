"""The first thing on the page: one sentence that the items can tell, and the clips that show it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from inpaintbench.eval.comparing.looked_at import Effect
from inpaintbench.eval.diagnosis.diagnose import diagnose
from inpaintbench.eval.diagnosis.records import Diagnosis, FactorEffect, rests_on
from inpaintbench.eval.report.effects import (
    factor_label,
    sentence,
    shown_ends,
    shown_groups,
    step_of,
    surest_of_axes,
    told_effects,
)
from inpaintbench.eval.report.findings import change_words, effects, p_words, standing_note, when_words, with_unit
from inpaintbench.eval.report.gallery import Choice
from inpaintbench.eval.results.quantity import Quantity, name_label, quantity_label, standing
from inpaintbench.eval.results.tables import Results
from inpaintbench.pages import Sentence
from inpaintbench.pages.words import count
from inpaintbench.types import Plain, Slice

_LABEL = "Finding"


class Proof(NamedTuple):
    """An item on which the finding can be seen."""

    item_id: str
    method: str
    caption: str


class Headline(NamedTuple):
    """A finding with its reasons and the items that show it."""

    kicker: str
    """``Finding``, or ``Exploratory finding`` of another than the primary quantity."""
    sentence: Sentence
    reasons: str
    proofs: tuple[Proof, ...]
    step: str = ""
    """Line of the fingerprints that it stands on; empty for a change between slices."""


def headline(results: Results, quantity: Quantity) -> Headline | None:
    """The largest of what is sure and more than chance: of an axis on a method, else of a low against a high slice, else of a
    measured attribute, else a difference between methods in such an effect; None where nothing is.

    An axis is shown on a pair of items near its mean effects on which the effect can be seen: see ``shown_groups``. A change
    between slices is shown on the item of each that is nearest to the slice's mean, so that no extreme is chosen; where the
    slices hold items of one exact hole, on the pair of them that is.
    """
    diagnosis = diagnose(results)
    kicker = _LABEL if standing(quantity, results.protocol) == "primary" else f"Exploratory {_LABEL.lower()}"
    effect = surest_of_axes(diagnosis, quantity)
    change = next((effect for effect in effects(results, quantity, "change") if effect.told), None)
    if effect is None and change is None:
        effect = next(iter(told_effects(diagnosis, quantity)), None)
        effect = effect.turned() if effect and effect.other and effect.better else effect
    if effect is not None:
        return Headline(kicker, sentence(effect), _effect_reasons(results, effect, quantity),
                        tuple(_effect_proofs(results, diagnosis, effect)), step_of(effect).key)  # fmt: skip
    if change is None:
        return None
    name = name_label(change.other).lower()
    items = _shown(results, change, quantity)
    proofs = tuple(
        _proof(results, change.one, item_id, quantity, words=f"{name} {level}")
        for level, item_id in zip(("low", "high"), items.item_ids, strict=True)
    )
    return Headline(kicker, (*change_words(change), f" {when_words(change)}"), _reasons(results, change, quantity, items), proofs)


def _effect_reasons(results: Results, effect: FactorEffect, quantity: Quantity) -> str:
    paired = effect.factor.kind == "paired"
    how = "pairs that differ in nothing else" if paired else "by a regression on everything that was measured of the items"
    rule = "effects of axes" if paired and not effect.other else "effects"
    pair = "the pair with the worst score, of the half of all pairs that is nearest to the mean effects of all methods"
    ends = "of the third of the items with the least and with the most of it, those nearest to the means"
    clips = f" The clips are {pair if paired else ends}."
    return (
        f"{quantity_label(quantity)}: {with_unit(effect.value, quantity.metric)} on average over {rests_on(effect)}, {how}, "
        f"p {p_words(effect.p)}. A rule chose this: of the {rule} that are more than chance, the one that is largest even at the "
        f"near end of its interval. {standing_note(results, quantity)}{clips}"
    )


def _effect_proofs(results: Results, diagnosis: Diagnosis, effect: FactorEffect) -> Iterator[Proof]:
    if effect.factor.kind == "paired":
        found = {group.axis: group.items for group in shown_groups(results, diagnosis, effect.quantity)}.get(effect.factor.name)
        items = {level: found[level] for level in (effect.low_level, effect.high_level)} if found else {}
    else:
        items = dict(zip(("low", "high"), shown_ends(diagnosis, effect), strict=False))
    label = factor_label(effect.factor)
    for level, item_id in items.items():
        words = f"{label[:1].lower()}{label[1:]} {level.replace('_', ' ')}"
        yield _proof(results, effect.method, item_id, effect.quantity, words=words)


def _reasons(results: Results, change: Effect, quantity: Quantity, items: _Shown) -> str:
    low, high = (
        f"{with_unit(_mean(results, change, part), quantity.metric)} over {count(n, 'item')} of {count(sources, 'source')}"
        for part, n, sources in zip(_sides(results, change), change.n, change.n_sources, strict=True)
    )
    return (
        f"{quantity_label(quantity)}: {low} where it is low, {high} where it is high, p {p_words(change.p)}. A rule chose this: "
        "of the changes that are more than chance, the one that is largest even at the near end of its interval. "
        f"{standing_note(results, quantity)} The clips are those nearest to the two means"
        f"{', of those that share their hole' if items.of_one_hole else ''}."
    )


class _Shown(NamedTuple):
    """Items that show a change."""

    item_ids: tuple[str, str]
    """Of the low slice and of the high one."""
    of_one_hole: bool
    """The two differ in nothing but what tells the slices apart, as far as the hole goes."""


def _shown(results: Results, change: Effect, quantity: Quantity) -> _Shown:
    """The items nearest to the two means: a pair of one exact hole where there is any, and of one clip before others."""
    off = [_off_mean(results, change, part, quantity) for part in _sides(results, change)]
    rows = {row["item_id"]: row for row in results.dataset.items if any(row["item_id"] in known for known in off)}
    of_hole: dict[str, list[str]] = {}
    for item_id in off[1]:
        if (hole := _exact_hole(rows[item_id])) is not None:
            of_hole.setdefault(hole, []).append(item_id)
    pairs = [
        (rows[low].get("clip_id") != rows[high].get("clip_id"), off[0][low] + off[1][high], low, high)
        for low in off[0]
        for high in of_hole.get(_exact_hole(rows[low]) or "", ())
    ]
    if pairs:
        return _Shown(min(pairs)[2:], of_one_hole=True)
    low, high = (min(known, key=lambda name: (known[name], name)) for known in off)
    return _Shown((low, high), of_one_hole=False)


def _exact_hole(row: Plain) -> str | None:
    """Hash of the exact hole of an item, whatever mask methods were given."""
    found = row.get("object_mask_sha256") or row.get("hole_sha256")
    return None if found is None else str(found)


def _sides(results: Results, change: Effect) -> tuple[Slice, Slice]:
    pair = next(pair for pair in results.pairs if pair.attribute == change.other)
    return pair.low, pair.high


def _mean(results: Results, change: Effect, part: Slice) -> float | None:
    return results.summary(part, change.one, change.quantity).mean


def _off_mean(results: Results, change: Effect, part: Slice, quantity: Quantity) -> dict[str, float]:
    """Item of a slice -> how far its finite value is from the slice's mean."""
    values = {item_id: results.value(change.one, item_id, quantity) for item_id in part.item_ids}
    mean = _mean(results, change, part) or 0.0
    return {item_id: abs(value - mean) for item_id, value in values.items() if value is not None and math.isfinite(value)}


def _proof(results: Results, method: str, item_id: str, quantity: Quantity, *, words: str) -> Proof:
    value = results.value(method, item_id, quantity)
    return Proof(item_id, method, f"{words}: {with_unit(value, quantity.metric)} on this clip")


def add_proofs(choices: Sequence[Choice], finding: Headline | None) -> list[Choice]:
    """``choices`` and the items of the headline, so that they have videos."""
    known = {choice.item_id: choice for choice in choices}
    for proof in finding.proofs if finding else ():
        known.setdefault(proof.item_id, Choice(proof.item_id)).labels[_LABEL] = "it shows the finding on top of the page"
    return list(known.values())
