"""What a diagnosis says, in words and tables: effects of factors, pairs that hurt together, and the items that show them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from statistics import median
from typing import NamedTuple

from inpaintbench.eval.comparing.factors import Factor
from inpaintbench.eval.comparing.looked_at import Effect
from inpaintbench.eval.diagnosis.diagnose import diagnose
from inpaintbench.eval.diagnosis.records import Diagnosis, FactorEffect, rests_on, when_words
from inpaintbench.eval.report.findings import change_words, effects, moved_words, p_words, standing_note, step_words, with_unit
from inpaintbench.eval.report.gallery import Choice
from inpaintbench.eval.report.items import attribute_label
from inpaintbench.eval.results.quantity import Quantity, metric_leaf, name_label, quantity_label, quantity_title, standing
from inpaintbench.eval.results.tables import Results
from inpaintbench.pages import Cell, Column, Method, Row, Sentence, Table
from inpaintbench.pages.words import count, interval, number, signed
from inpaintbench.steps import LEVEL_OF, PAIR_OF
from inpaintbench.types import Plain, Slice

# Axes whose items have a video in any case, and items that no factor explains.
_MOST_GROUPS, _MOST_UNEXPLAINED = 6, 3
# An axis of the dataset's card -> level -> what is so then, where the words of axis and levels are less plain.
_WHEN = {
    "size": {"high": "the hole is large"},
    "pose": {"high": "the hole changes its shape"},
    "displacement": {"high": "the hole moves far"},
    "camera_path": {"slow": "the camera moves slowly", "fast": "the camera moves fast"},
    "speed": {"every_second": "only every second frame is seen", "every_fourth": "only every fourth frame is seen"},
}


class Step(NamedTuple):
    """A line of a figure or table of effects: one step of a factor."""

    factor: Factor
    low: str
    high: str

    @property
    def key(self) -> str:
        """By which scripts find it."""
        return f"{self.factor.kind}/{self.factor.name}/{self.low}/{self.high}"

    @property
    def levels(self) -> str:
        """From where to where: ``low → high``, ``18.2 → 37.2 pixels``."""
        if not self.factor.levels:
            return self.factor.step.replace(" to ", " → ")
        return f"{self.low} → {self.high}".replace("_", " ")


def step_of(effect: FactorEffect) -> Step:
    """The line on which an effect stands."""
    return Step(effect.factor, effect.low_level, effect.high_level)


def steps(diagnosis: Diagnosis) -> list[Step]:
    """Every line once: axes first, then slices, then measured attributes, each in the order of the diagnosis."""
    kinds = ("paired", "labelled", "measured")
    found = dict.fromkeys(step_of(effect) for effect in diagnosis.effects)
    return sorted(found, key=lambda step: (kinds.index(step.factor.kind), diagnosis.factors.index(step.factor)))


def factor_label(factor: Factor) -> str:
    """A factor in words that begin a line: ``Size of the hole``."""
    words = factor.label or attribute_label(factor.name)
    return words[:1].upper() + words[1:]


def own_effects(diagnosis: Diagnosis, quantity: Quantity) -> list[FactorEffect]:
    """Those of methods by themselves, by one quantity."""
    return [effect for effect in diagnosis.effects if effect.quantity == quantity and not effect.other]


def told_effects(diagnosis: Diagnosis, quantity: Quantity) -> list[FactorEffect]:
    """Effects that are more than chance, those of the largest size that is sure first; differences between methods last."""
    told = [effect for effect in diagnosis.effects if effect.quantity == quantity and effect.told]
    return sorted(told, key=lambda one: (bool(one.other), -surely(one), one.method, one.other))


def surely(effect: FactorEffect) -> float:
    """The least size that the interval leaves, at least 0."""
    return max(0.0, abs(effect.value) - effect.reach)


def sentence(effect: FactorEffect) -> Sentence:
    """What an effect says: ``telea loses 2.1 to 5.4 dB when the hole is large``; of two methods who is worse off first."""
    effect = effect.turned() if effect.other and effect.better else effect
    against: Sentence = ("Against ", Method(effect.other), ", ") if effect.other else ()
    told = _WHEN.get(effect.factor.name, {}).get(effect.high_level) if effect.factor.kind == "paired" else None
    when = f"when {told}" if told else when_words(effect)
    return (*against, Method(effect.method), f" {moved_words(effect)} {when}")


def sensitivity_note(diagnosis: Diagnosis, quantity: Quantity) -> str:
    """What could have been found: the median half-width of intervals of effects that are not told; empty where all are."""
    own = own_effects(diagnosis, quantity)
    untold = [effect for effect in own if not effect.told]
    if not untold:
        return ""
    some = f"The other {len(untold)} could be chance"
    none = f"None of these {len(untold)} effects is more than chance" if len(untold) > 1 else "This effect could be chance"
    begin = some if len(untold) < len(own) else none
    leaf = metric_leaf(quantity.metric)
    reaches = [effect.reach for effect in untold if math.isfinite(effect.reach)]
    if not reaches:
        return f"{begin}."
    # One attribute that the items hardly tell apart from the others would make a range that says nothing of the rest.
    size = f"{number(median(reaches), leaf.decimals)} {leaf.unit}".strip()
    size = f"for half of them {size} or less" if len(reaches) > 1 else f"here {size}"
    sources = sorted(effect.n_sources for effect in untold)
    rest = f"{f'{sources[0]} to ' if sources[0] < sources[-1] else ''}{count(sources[-1], 'source')}"
    return f"{begin}: with {rest} an effect is told where it is larger than its interval’s half-width, {size}."


def effects_table(results: Results, diagnosis: Diagnosis, quantity: Quantity) -> Table:
    """A row for each step, a column for each method: the effect, its interval below, bold where it is more than chance."""
    shown = own_effects(diagnosis, quantity)
    return _matrix(
        results,
        diagnosis,
        quantity,
        {name: {step_of(one): one for one in shown if one.method == name} for name in dict.fromkeys(one.method for one in shown)},
    )


def versus_table(results: Results, diagnosis: Diagnosis, quantity: Quantity, one: str, other: str) -> Table:
    """The effects of two methods, and of each how much less the second has."""
    columns = {name: {step_of(e): e for e in own_effects(diagnosis, quantity) if e.method == name} for name in (one, other)}
    columns[f"{one} less {other}"] = {step_of(effect): effect for effect in differences(diagnosis, quantity, one, other)}
    return _matrix(results, diagnosis, quantity, columns)


def differences(diagnosis: Diagnosis, quantity: Quantity, one: str, other: str) -> list[FactorEffect]:
    """Effects on the lead of ``one`` over ``other``."""
    found = [
        effect for effect in diagnosis.effects if effect.quantity == quantity and {effect.method, effect.other} == {one, other}
    ]
    return [effect if effect.method == one else effect.turned() for effect in found]


def _matrix(results: Results, diagnosis: Diagnosis, quantity: Quantity, columns: dict[str, dict[Step, FactorEffect]]) -> Table:
    rows = [step for step in steps(diagnosis) if any(step in effects for effects in columns.values())]
    known = set(results.methods)
    heads = (Column(name, numeric=True, method=name if name in known else "", key=name) for name in columns)
    return Table(
        (Column("Attribute"), Column("Step"), *heads),
        tuple(
            Row((Cell(factor_label(step.factor)), Cell(step.levels),
                 *(_cell(effects.get(step), quantity) for effects in columns.values())))
            for step in rows
        ),
        caption=f"{quantity_title(quantity, results.protocol)}: effect of each attribute",
        foot="Bold: more than chance. Intervals and p hold for everything that is compared together.",
        copies=True,
    )  # fmt: skip


def _cell(effect: FactorEffect | None, quantity: Quantity) -> Cell:
    if effect is None:
        return Cell(number(None))
    decimals = metric_leaf(quantity.metric).decimals
    ends = interval(effect.low, effect.high, decimals) if math.isfinite(effect.reach) else ""
    title = f"p {p_words(effect.p)}, over {rests_on(effect)}"
    return Cell(signed(effect.value, decimals), effect.value, below=ends, title=title, strong=effect.told)


class Group(NamedTuple):
    """Items of one clip that differ in one axis alone."""

    axis: str
    items: dict[str, str]
    """Level -> item."""


def groups(results: Results, axis: str) -> list[Group]:
    """Every group of an axis, levels in the order of the items."""
    found: dict[str, dict[str, str]] = {}
    for row in results.dataset.items:
        facts = row.get("attributes", {})
        if (group := facts.get(PAIR_OF + axis)) is not None and (level := facts.get(LEVEL_OF + axis)) is not None:
            found.setdefault(str(group), {})[str(level)] = row["item_id"]
    return [Group(axis, items) for items in found.values()]


def shown_groups(results: Results, diagnosis: Diagnosis, quantity: Quantity) -> list[Group]:
    """Of each axis a whole group on which its effect can be seen.

    Of the half of all groups that is nearest to the mean effects of all methods, so that no extreme is chosen, it is the one on
    which the method with the surest effect scores worst: where scores are high, nothing is to be seen.

    Axes of which something is told are all shown, those with the largest effects first; others while there are few.
    """
    told = {effect.factor for effect in told_effects(diagnosis, quantity)}
    of_axis: dict[Factor, list[FactorEffect]] = {}
    for effect in own_effects(diagnosis, quantity):
        if effect.factor.kind == "paired":
            of_axis.setdefault(effect.factor, []).append(effect)
    order = sorted(of_axis, key=lambda factor: -max(surely(one) if one.told else 0.0 for one in of_axis[factor]))
    chosen = []
    for factor in (factor for place, factor in enumerate(order) if factor in told or place < _MOST_GROUPS):
        off = [
            (distance, place, group)
            for place, group in enumerate(groups(results, factor.name))
            if set(group.items) >= {level for one in of_axis[factor] for level in (one.low_level, one.high_level)}
            and (distance := _distance(results, group, of_axis[factor])) is not None
        ]
        if off:
            surest = max(of_axis[factor], key=lambda one: (one.told, surely(one), abs(one.value)))
            near = [group for *_, group in sorted(off)[: -(-len(off) // 2)]]
            chosen.append(min(near, key=lambda group: _worst(results, group, surest)))
    return chosen


def _worst(results: Results, group: Group, effect: FactorEffect) -> float:
    """Score of the effect's method at the worse of its levels, larger is better."""
    score = results.value(effect.method, group.items[effect.low_level if effect.better else effect.high_level], effect.quantity)
    return (score or 0.0) if effect.quantity.higher_is_better else -(score or 0.0)


def without_clips(results: Results, diagnosis: Diagnosis, quantity: Quantity) -> str:
    """A sentence on the axes whose clips are not on the page; empty where all are."""
    shown = {group.axis for group in shown_groups(results, diagnosis, quantity)}
    axes = dict.fromkeys(one.factor for one in own_effects(diagnosis, quantity) if one.factor.kind == "paired")
    lacking = [factor_label(factor) for factor in axes if factor.name not in shown]
    return f"No clips are on this page of: {'; '.join(lacking)}." if lacking else ""


def _distance(results: Results, group: Group, effects: Sequence[FactorEffect]) -> float | None:
    """How far a group's changes are from the effects, summed over methods and steps; None where one has no finite value."""
    total = 0.0
    for effect in effects:
        ends = [
            results.value(effect.method, group.items[level], effect.quantity) for level in (effect.low_level, effect.high_level)
        ]
        if any(end is None or not math.isfinite(end) for end in ends):
            return None
        low, high = (end or 0.0 for end in ends)
        total += abs(high - low - effect.value)
    return total


def shown_ends(diagnosis: Diagnosis, effect: FactorEffect) -> tuple[str, ...]:
    """Two items that show an effect of a measured attribute: of the third of the items with the least of it, and of that with the
    most, the one whose score is nearest to the mean of its third; none where no curve was drawn."""
    own = (effect.factor, effect.quantity, effect.method)
    points = next((one.points for one in diagnosis.curves if (one.factor, one.quantity, one.method) == own), ())
    ordered = sorted(points, key=lambda point: (point[1], point[0]))
    third = len(ordered) // 3
    if not third:
        return ()
    parts = ordered[:third], ordered[-third:]
    means = [math.fsum(score for *_, score in part) / third for part in parts]
    return tuple(
        min(part, key=lambda point: (abs(point[2] - mean), point[0]))[0] for part, mean in zip(parts, means, strict=True)
    )


def add_groups(results: Results, choices: Sequence[Choice], diagnosis: Diagnosis, quantity: Quantity) -> list[Choice]:
    """``choices`` with the items that show each axis, and those that nothing explains, so that they have videos."""
    known = {choice.item_id: choice for choice in choices}
    labels = {factor.name: factor_label(factor) for factor in diagnosis.factors if factor.kind == "paired"}
    for group in shown_groups(results, diagnosis, quantity):
        for level, item_id in group.items.items():
            label = f"{labels[group.axis]}: {level.replace('_', ' ')}"
            reason = "of the pairs near the mean effects it shows the effect most"
            known.setdefault(item_id, Choice(item_id)).labels[label] = reason
    for label, item_id, reason in _unexplained(diagnosis, quantity):
        known.setdefault(item_id, Choice(item_id)).labels[label] = reason
    return list(known.values())


UNEXPLAINED = "Unexplained"


def _unexplained(diagnosis: Diagnosis, quantity: Quantity) -> Iterator[tuple[str, str, str]]:
    """Label, item and reason of the items with the largest residuals, each item once."""
    leaf = metric_leaf(quantity.metric)
    own = [one for one in diagnosis.unexplained if one.quantity == quantity]
    first = {one.item_id: one for one in sorted(own, key=lambda one: -abs(one.residual))[::-1]}
    largest = sorted(first.values(), key=lambda one: -abs(one.residual))[:_MOST_UNEXPLAINED]
    for place, one in enumerate(largest, 1):
        score, expected = (f"{number(value, leaf.decimals)} {leaf.unit}".strip() for value in (one.score, one.expected))
        yield f"{UNEXPLAINED} {place}", one.item_id, f"{one.method} has {score} where its attributes let expect {expected}"


def surest_of_axes(diagnosis: Diagnosis, quantity: Quantity) -> FactorEffect | None:
    """The effect of an axis on a method that is largest even at the near end of its interval; None where none is told."""
    told = (effect for effect in told_effects(diagnosis, quantity) if not effect.other and effect.factor.kind == "paired")
    return next(told, None)


def quantity_words(quantity: Quantity) -> str:
    """The quantity with its unit, as axes of figures of effects name it: ``Change of PSNR in the hole (dB)``."""
    unit = metric_leaf(quantity.metric).unit
    return f"Change of {quantity_label(quantity)}{f' ({unit})' if unit else ''}"


class Told(NamedTuple):
    """A sentence that the page shows, and the line of the fingerprints that it belongs to."""

    step: str
    method: str
    other: str
    words: Sentence


def told_sentences(diagnosis: Diagnosis, quantity: Quantity) -> list[Told]:
    """One for each effect that is more than chance, in the order of ``told_effects``."""
    return [
        Told(step_of(effect).key, effect.method, effect.other, sentence(effect)) for effect in told_effects(diagnosis, quantity)
    ]


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
    return Headline(kicker, (*change_words(change), f" {step_words(change)}"), _reasons(results, change, quantity, items), proofs)


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
