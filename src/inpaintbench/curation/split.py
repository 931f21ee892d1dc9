"""Splits that keep what belongs together in one split."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from inpaintbench.errors import InputError
from inpaintbench.types import content_id

# Of pictures of people. Source: ChaLearn LAP 2018, track 1.
PEOPLE_SHARES: Mapping[str, float] = {"train": 0.70, "validation": 0.15, "test": 0.15}
# Of film clips. Source: ChaLearn LAP 2018, track 2.
FILM_SHARES: Mapping[str, float] = {"train": 0.60, "validation": 0.20, "test": 0.20}
_TOLERANCE = 1e-6


def assign(
    groups: Mapping[str, str], shares: Mapping[str, float], *, seed: int, given: Mapping[str, str] = MappingProxyType({})
) -> dict[str, str]:
    """Subject -> split; all subjects of a group get the same one.

    Groups go, the largest first and equal ones in an order drawn by ``seed``, to the split that lacks most. No split then
    differs from its share of the subjects by as much as the largest group has. The order of ``groups`` plays no part; with
    fewer groups than splits some splits stay empty. A group with subjects whose split is given gets that; the shares are then
    filled up around it.

    Args:
        groups: subject -> group.
        shares: split -> share of the subjects; the shares sum to 1.
        seed: another seed deals groups of equal size differently.
        given: subject -> split that it has already; of subjects in ``groups`` or, to be counted alone, of others.

    Raises:
        InputError: no shares, one that is not positive, or a sum other than 1; a group with two given splits, or one without a
            share.
    """
    for split, share in shares.items():
        if not (math.isfinite(share) and share > 0):
            raise InputError(f"the share of split {split!r} is {share}, it must be over 0 (leave the split out instead)")
    total = sum(shares.values())
    if abs(total - 1) > _TOLERANCE:
        listed = ", ".join(f"{split} {share:g}" for split, share in shares.items()) or "none"
        raise InputError(f"the shares of the splits ({listed}) sum to {total:g}, they must sum to 1")
    members: dict[str, list[str]] = {}
    for subject, group in groups.items():
        members.setdefault(group, []).append(subject)
    for split in given.values():
        if split not in shares:
            raise InputError(f"some subjects are in the split {split!r} already, which has no share")
    fixed: dict[str, str] = {}  # group -> the split that its subjects were given
    for subject, group in groups.items():
        if subject in given and fixed.setdefault(group, given[subject]) != given[subject]:
            both = f"{fixed[group]}, {given[subject]}"
            raise InputError(f"{group!r} is one group, and its subjects are in two splits already: {both}")
    order = sorted(
        members.keys() - fixed.keys(), key=lambda group: (-len(members[group]), content_id("split", seed, group), group)
    )
    splits = sorted(shares, key=lambda split: (-shares[split], split))
    counted = {**groups, **given}
    lacking = {split: shares[split] * len(counted) for split in splits}
    chosen = dict(fixed)
    for subject in counted:
        taken = fixed[groups[subject]] if groups.get(subject) in fixed else given.get(subject)
        if taken is not None:
            lacking[taken] -= 1
    for group in order:
        # Rounded, so that noise in the last digit does not decide between equals; the larger share goes first then.
        split = max(splits, key=lambda name: round(lacking[name], 6))
        chosen[group] = split
        lacking[split] -= len(members[group])
    return {subject: chosen[group] for subject, group in groups.items()}


def together(groups: Mapping[str, str], pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Subject -> group, where the groups of both subjects of every pair are one, so that ``assign`` keeps them in one split.

    The name of a group is the first, in order, of those that it is made of; neither the order of ``groups`` nor that of
    ``pairs`` plays a part.

    Args:
        groups: subject -> group.
        pairs: subjects that belong together, such as near-duplicates; those that are not in ``groups`` are ignored.
    """
    first = {group: group for group in groups.values()}

    def root(group: str) -> str:
        while first[group] != group:
            first[group] = first[first[group]]
            group = first[group]
        return group

    for clip, other in pairs:
        if clip in groups and other in groups:
            low, high = sorted((root(groups[clip]), root(groups[other])))
            first[high] = low
    return {subject: root(group) for subject, group in groups.items()}
