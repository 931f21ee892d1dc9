"""What a diagnosis says, in words and tables, the items that show it, and the one sentence that the page begins with."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

from inpaintbench.eval.comparing.factors import Factor
from inpaintbench.eval.comparing.looked_at import Effect
from inpaintbench.eval.diagnosis import Diagnosis, diagnose, moved_words, rests_on, when_words
from inpaintbench.eval.report.findings import change_words, effects, standing_note, step_words
from inpaintbench.eval.report.gallery import Choice, attribute_label, labelled
from inpaintbench.eval.results.quantity import (
    Quantity,
    metric_leaf,
    name_label,
    quantity_label,
    quantity_title,
    standing,
    with_unit,
)
from inpaintbench.eval.results.tables import Results
from inpaintbench.pages import Cell, Column, Method, Row, Sentence, Table
from inpaintbench.pages.words import count, interval, number, p_words, signed
from inpaintbench.steps import LEVEL_OF, PAIR_OF

# Axes whose items have a video in any case, and items that no factor explains.
_MOST_GROUPS, _MOST_UNEXPLAINED = 6, 3
UNEXPLAINED = "Unexplained"
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


def step_of(effect: Effect) -> Step:
    """The line on which an effect stands."""
    return Step(effect.factor, *effect.levels)


def steps(diagnosis: Diagnosis) -> list[Step]:
    """Every line once: axes first, then slices, then measured attributes, each in the order of the diagnosis."""
    kinds = ("paired", "labelled", "measured")
    found = dict.fromkeys(map(step_of, diagnosis.effects))
    return sorted(found, key=lambda step: (kinds.index(step.factor.kind), diagnosis.factors.index(step.factor)))


def factor_label(factor: Factor) -> str:
    """A factor in words that begin a line: ``Size of the hole``."""
    words = factor.label or attribute_label(factor.name)
    return words[:1].upper() + words[1:]


def own_effects(diagnosis: Diagnosis, quantity: Quantity) -> list[Effect]:
    """Those of methods by themselves, by one quantity."""
    return [effect for effect in diagnosis.effects if effect.quantity == quantity and not effect.other]


def told_effects(diagnosis: Diagnosis, quantity: Quantity) -> list[Effect]:
    """Effects that are more than chance, those of the largest size that is sure first; differences between methods last."""
    told = [effect for effect in diagnosis.effects if effect.quantity == quantity and effect.told]
    return sorted(told, key=lambda one: (bool(one.other), -one.surely, one.one, one.other))


def differences(diagnosis: Diagnosis, quantity: Quantity, one: str, other: str) -> list[Effect]:
    """Effects on the lead of ``one`` over ``other``."""
    own = [effect for effect in diagnosis.effects if effect.quantity == quantity]
    found = [effect for effect in own if {effect.one, effect.other} == {one, other}]
    return [effect if effect.one == one else effect.turned() for effect in found]


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
    """One for each effect that is more than chance, in the order of ``told_effects``; of two methods who is worse off first."""
    return [
        Told(step_of(one).key, one.one, one.other, sentence(one.turned() if one.other and one.better else one))
        for one in told_effects(diagnosis, quantity)
    ]


def sentence(effect: Effect) -> Sentence:
    """What an effect says: ``telea loses 2.1 to 5.4 dB when the hole is large``."""
    against: Sentence = ("Against ", Method(effect.other), ", ") if effect.other else ()
    told = _WHEN.get(effect.factor.name, {}).get(effect.levels[1]) if effect.factor.kind == "paired" else None
    return (*against, Method(effect.one), f" {moved_words(effect)} {f'when {told}' if told else when_words(effect)}")


def sensitivity_note(diagnosis: Diagnosis, quantity: Quantity) -> str:
    """What could have been found: the median half-width of intervals of effects that are not told; empty where all are."""
    own = own_effects(diagnosis, quantity)
    untold = [effect for effect in own if not effect.told]
    if not untold:
        return ""
    some = f"The other {len(untold)} could be chance"
    none = f"None of these {len(untold)} effects is more than chance" if len(untold) > 1 else "This effect could be chance"
    begin = some if len(untold) < len(own) else none
    reaches = [effect.reach for effect in untold if math.isfinite(effect.reach)]
    if not reaches:
        return f"{begin}."
    # One attribute that the items hardly tell apart from the others would make a range that says nothing of the rest.
    size = with_unit(median(reaches), quantity.metric)
    size = f"for half of them {size} or less" if len(reaches) > 1 else f"here {size}"
    sources = sorted(effect.n_sources[0] for effect in untold)
    rest = f"{f'{sources[0]} to ' if sources[0] < sources[-1] else ''}{count(sources[-1], 'source')}"
    return f"{begin}: with {rest} an effect is told where it is larger than its interval’s half-width, {size}."


def effects_table(results: Results, diagnosis: Diagnosis, quantity: Quantity) -> Table:
    """A row for each step, a column for each method: the effect, its interval below, bold where it is more than chance."""
    own = own_effects(diagnosis, quantity)
    columns = {name: [one for one in own if one.one == name] for name in dict.fromkeys(one.one for one in own)}
    return _matrix(results, diagnosis, quantity, columns)


def versus_table(results: Results, diagnosis: Diagnosis, quantity: Quantity, one: str, other: str) -> Table:
    """The effects of two methods, and of each how much less the second has."""
    own = own_effects(diagnosis, quantity)
    columns = {name: [effect for effect in own if effect.one == name] for name in (one, other)}
    columns[f"{one} less {other}"] = differences(diagnosis, quantity, one, other)
    return _matrix(results, diagnosis, quantity, columns)


def _matrix(results: Results, diagnosis: Diagnosis, quantity: Quantity, columns: dict[str, list[Effect]]) -> Table:
    """A row for each step that one of the columns has an effect of."""
    by_step = {name: {step_of(effect): effect for effect in found} for name, found in columns.items()}
    decimals = metric_leaf(quantity.metric).decimals
    rows = []
    for step in (step for step in steps(diagnosis) if any(step in found for found in by_step.values())):
        cells = [Cell(factor_label(step.factor)), Cell(step.levels)]
        for effect in (found.get(step) for found in by_step.values()):
            if effect is None:
                cells.append(Cell(number(None)))
                continue
            ends = interval(effect.low, effect.high, decimals) if math.isfinite(effect.reach) else ""
            title = f"p {p_words(effect.p)}, over {rests_on(effect)}"
            cells.append(Cell(signed(effect.value, decimals), effect.value, below=ends, title=title, strong=effect.told))
        rows.append(Row(tuple(cells)))
    heads = (Column(name, numeric=True, method=name if name in results.methods else "", key=name) for name in columns)
    return Table(
        (Column("Attribute"), Column("Step"), *heads),
        tuple(rows),
        caption=f"{quantity_title(quantity, results.protocol)}: effect of each attribute",
        foot="Bold: more than chance. Intervals and p hold for everything that is compared together.",
        copies=True,
    )


Group = dict[str, str]
"""Level -> item, of items of one clip that differ in one axis alone."""


def groups(results: Results, axis: str) -> list[Group]:
    """Every group of an axis, levels in the order of the items."""
    found: dict[str, Group] = {}
    for row in results.dataset.items:
        facts = row.get("attributes", {})
        if (group := facts.get(PAIR_OF + axis)) is not None and (level := facts.get(LEVEL_OF + axis)) is not None:
            found.setdefault(str(group), {})[str(level)] = row["item_id"]
    return list(found.values())


def shown_groups(results: Results, diagnosis: Diagnosis, quantity: Quantity) -> dict[str, Group]:
    """Of each axis a whole group on which its effect can be seen.

    Of the half of all groups that is nearest to the mean effects of all methods, so that no extreme is chosen, it is the one on
    which the method with the surest effect scores worst: where scores are high, nothing is to be seen.

    Axes of which something is told are all shown, those with the largest effects first; others while there are few.
    """
    told = {effect.factor for effect in told_effects(diagnosis, quantity)}
    of_axis: dict[Factor, list[Effect]] = {}
    for effect in own_effects(diagnosis, quantity):
        if effect.factor.kind == "paired":
            of_axis.setdefault(effect.factor, []).append(effect)
    # What is told comes first, since the page shows only some of the others.
    order = sorted(of_axis, key=lambda factor: -max(one.surely if one.told else 0.0 for one in of_axis[factor]))
    chosen: dict[str, Group] = {}
    for factor in (factor for place, factor in enumerate(order) if factor in told or place < _MOST_GROUPS):
        own = of_axis[factor]
        levels = {level for one in own for level in one.levels}
        whole = [group for group in groups(results, factor.name) if set(group) >= levels]
        off = [(_distance(results, group, own), place, group) for place, group in enumerate(whole)]
        known = sorted(entry for entry in off if math.isfinite(entry[0]))
        if known:
            surest = max(own, key=lambda one: (one.told, one.surely, abs(one.value)))
            worse = surest.levels[not surest.better]
            # The score at the worse of its levels, larger is better.
            sign = 1 if quantity.higher_is_better else -1
            near = [group for *_, group in known[: -(-len(known) // 2)]]
            chosen[factor.name] = min(near, key=lambda group: sign * (results.value(surest.one, group[worse], quantity) or 0.0))
    return chosen


def _distance(results: Results, group: Group, effects: Sequence[Effect]) -> float:
    """How far a group's changes are from the effects, summed over methods and steps; infinite where one has no finite value."""
    total = 0.0
    for effect in effects:
        low, high = (results.value(effect.one, group[level], effect.quantity) for level in effect.levels)
        if low is None or high is None or not (math.isfinite(low) and math.isfinite(high)):
            return math.inf
        total += abs(high - low - effect.value)
    return total


def without_clips(results: Results, diagnosis: Diagnosis, quantity: Quantity) -> str:
    """A sentence on the axes whose clips are not on the page; empty where all are."""
    shown = shown_groups(results, diagnosis, quantity)
    axes = dict.fromkeys(one.factor for one in own_effects(diagnosis, quantity) if one.factor.kind == "paired")
    lacking = [factor_label(factor) for factor in axes if factor.name not in shown]
    return f"No clips are on this page of: {'; '.join(lacking)}." if lacking else ""


def shown_ends(diagnosis: Diagnosis, effect: Effect) -> tuple[str, ...]:
    """Two items that show an effect of a measured attribute: of the third of the items with the least of it, and of that with the
    most, the one whose score is nearest to the mean of its third; none where no curve was drawn."""
    own = (effect.factor, effect.quantity, effect.one)
    points = next((one.points for one in diagnosis.curves if (one.factor, one.quantity, one.method) == own), ())
    ordered = sorted(points, key=lambda point: (point[1], point[0]))
    third = len(ordered) // 3
    shown = []
    for part in (ordered[:third], ordered[-third:]) if third else ():
        mean = math.fsum(score for *_, score in part) / third
        shown.append(min(part, key=lambda point: (abs(point[2] - mean), point[0]))[0])
    return tuple(shown)


def add_groups(results: Results, choices: Sequence[Choice], diagnosis: Diagnosis, quantity: Quantity) -> list[Choice]:
    """``choices`` with the items that show each axis, and those that nothing explains, so that they have videos."""
    names = {factor.name: factor_label(factor) for factor in diagnosis.factors if factor.kind == "paired"}
    labels = [
        (
            item_id,
            f"{names[axis]}: {level.replace('_', ' ')}",
            "of the pairs near the mean effects it shows the effect most",
        )
        for axis, group in shown_groups(results, diagnosis, quantity).items()
        for level, item_id in group.items()
    ]
    own = sorted((one for one in diagnosis.unexplained if one.quantity == quantity), key=lambda one: -abs(one.residual))
    largest = {one.item_id: one for one in own[::-1]}  # of each item the largest residual
    largest_first = sorted(largest.values(), key=lambda one: -abs(one.residual))
    for place, one in enumerate(largest_first[:_MOST_UNEXPLAINED], 1):
        score, expected = (with_unit(value, quantity.metric) for value in (one.score, one.expected))
        reason = f"{one.method} has {score} where its attributes let expect {expected}"
        labels.append((one.item_id, f"{UNEXPLAINED} {place}", reason))
    return labelled(choices, labels)


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
    told = told_effects(diagnosis, quantity)
    effect = next((one for one in told if not one.other and one.factor.kind == "paired"), None)
    change = next((one for one in effects(results, quantity, "change") if one.told), None)
    if effect is None and change is None and told:
        effect = told[0].turned() if told[0].other and told[0].better else told[0]
    if effect is not None:
        return _of_effect(results, diagnosis, effect)
    return None if change is None else _of_change(results, change)


def _of_effect(results: Results, diagnosis: Diagnosis, effect: Effect) -> Headline:
    quantity, paired = effect.quantity, effect.factor.kind == "paired"
    if paired:
        found = shown_groups(results, diagnosis, quantity).get(effect.factor.name)
        items = {level: found[level] for level in effect.levels} if found else {}
        how, clips = (
            "pairs that differ in nothing else",
            "the pair with the worst score, of the half of all pairs that is nearest ",
        )
        clips += "to the mean effects of all methods"
    else:
        items = dict(zip(("low", "high"), shown_ends(diagnosis, effect), strict=False))
        how = "by a regression on everything that was measured of the items"
        clips = "of the third of the items with the least and with the most of it, those nearest to the means"
    rule = "effects of axes" if paired and not effect.other else "effects"
    reasons = (
        f"{quantity_label(quantity)}: {with_unit(effect.value, quantity.metric)} on average over {rests_on(effect)}, {how}, "
        f"p {p_words(effect.p)}. A rule chose this: of the {rule} that are more than chance, the one that is largest even at the "
        f"near end of its interval. {standing_note(results, quantity)} The clips are {clips}."
    )
    label = factor_label(effect.factor)
    words = {level: f"{label[:1].lower()}{label[1:]} {level.replace('_', ' ')}" for level in items}
    proofs = tuple(_proof(results, effect.one, item_id, quantity, words[level]) for level, item_id in items.items())
    return Headline(_kicker(results, quantity), sentence(effect), reasons, proofs, step_of(effect).key)


def _of_change(results: Results, change: Effect) -> Headline:
    """On the items nearest to the two means: a pair of one exact hole where there is any, and of one clip before others."""
    quantity = change.quantity
    pair = next(pair for pair in results.pairs if pair.attribute == change.other)
    over: list[str] = []
    off: list[dict[str, float]] = []  # for both slices: item -> how far its finite value is from the mean
    for part, n, sources in zip((pair.low, pair.high), change.n, change.n_sources, strict=True):
        mean = results.summary(part, change.one, quantity).mean
        values = {item_id: results.value(change.one, item_id, quantity) for item_id in part.item_ids}
        finite = {item_id: value for item_id, value in values.items() if value is not None and math.isfinite(value)}
        off.append({item_id: abs(value - (mean or 0.0)) for item_id, value in finite.items()})
        over.append(f"{with_unit(mean, quantity.metric)} over {count(n, 'item')} of {count(sources, 'source')}")
    rows = {row["item_id"]: row for row in results.dataset.items if any(row["item_id"] in known for known in off)}
    # Of the exact hole, whatever masks methods were given: items that share it differ in little but what tells the slices apart.
    holes = {item_id: row.get("object_mask_sha256") or row.get("hole_sha256") for item_id, row in rows.items()}
    of_hole: dict[object, list[str]] = {}
    for item_id in off[1]:
        of_hole.setdefault(holes[item_id], []).append(item_id)
    pairs = [
        (rows[low].get("clip_id") != rows[high].get("clip_id"), off[0][low] + off[1][high], low, high)
        for low in off[0]
        for high in (of_hole.get(holes[low], ()) if holes[low] else ())
    ]
    shown = min(pairs)[2:] if pairs else tuple(min(known, key=lambda name: (known[name], name)) for known in off)
    reasons = (
        f"{quantity_label(quantity)}: {over[0]} where it is low, {over[1]} where it is high, p {p_words(change.p)}. A rule chose "
        "this: of the changes that are more than chance, the one that is largest even at the near end of its interval. "
        f"{standing_note(results, quantity)} The clips are those nearest to the two means"
        f"{', of those that share their hole' if pairs else ''}."
    )
    name = name_label(change.other).lower()
    levels = zip(("low", "high"), shown, strict=True)
    proofs = tuple(_proof(results, change.one, item_id, quantity, f"{name} {level}") for level, item_id in levels)
    return Headline(_kicker(results, quantity), (*change_words(change), f" {step_words(change)}"), reasons, proofs)


def _kicker(results: Results, quantity: Quantity) -> str:
    return _LABEL if standing(quantity, results.protocol) == "primary" else f"Exploratory {_LABEL.lower()}"


def _proof(results: Results, method: str, item_id: str, quantity: Quantity, words: str) -> Proof:
    value = results.value(method, item_id, quantity)
    return Proof(item_id, method, f"{words}: {with_unit(value, quantity.metric)} on this clip")


def add_proofs(choices: Sequence[Choice], finding: Headline | None) -> list[Choice]:
    """``choices`` and the items of the headline, so that they have videos."""
    proofs = finding.proofs if finding else ()
    return labelled(choices, ((proof.item_id, _LABEL, "it shows the finding on top of the page") for proof in proofs))
