"""Leaves written on the command line: ``shots,length=30``."""

from __future__ import annotations

import math
from typing import Any

import pytest

from inpaintbench.catalogue import Catalogue
from inpaintbench.cli.console import parse_leaf
from inpaintbench.cli.words import constants_of
from inpaintbench.curation.normalizers import NORMALIZERS
from inpaintbench.curation.splitters import SPLITTERS
from inpaintbench.errors import InputError


@pytest.mark.parametrize(
    ("text", "leaves", "expected"),
    [
        ("shots", SPLITTERS, {"name": "shots"}),
        ("shots,length=60,margin=0", SPLITTERS, {"name": "shots", "length": 60, "margin": 0}),
        ("seconds,length_seconds=5", SPLITTERS, {"name": "seconds", "length_seconds": 5}),
        ("seconds,shortest_seconds=null", SPLITTERS, {"name": "seconds", "shortest_seconds": None}),
        ("contain,pad=false", NORMALIZERS, {"name": "contain", "pad": False}),
        ("contain,colour=[0, 9,255],width=64", NORMALIZERS, {"name": "contain", "colour": [0, 9, 255], "width": 64}),
    ],
)
def test_constants_are_read(text: str, leaves: Catalogue, expected: dict[str, Any]) -> None:
    assert parse_leaf(text, leaves) == expected


@pytest.mark.parametrize(
    ("text", "leaves", "sentence"),
    [
        (
            "shots,lenght=30",
            SPLITTERS,
            "splitter 'shots' has no constant 'lenght', did you mean 'length'? It takes length=90, shortest=45, margin=2",
        ),
        ("as_is,zzz=1", NORMALIZERS, "normalizer 'as_is' has no constant 'zzz'. It takes shortest_side=16"),
        ("shots,length=thirty", SPLITTERS, "splitter 'shots': length needs a whole number, got 'thirty'"),
        ("shots,length=30.5", SPLITTERS, "splitter 'shots': length needs a whole number, got 30.5"),
        ("shots,length=true", SPLITTERS, "splitter 'shots': length needs a whole number, got True"),
        ("seconds,length_seconds=five", SPLITTERS, "splitter 'seconds': length_seconds needs a number, got 'five'"),
        ("seconds,stride_seconds=[1]", SPLITTERS, "'seconds' cannot have stride_seconds=[1]: input should be a valid number"),
        ("contain,pad=1", NORMALIZERS, "normalizer 'contain': pad needs true or false, got 1"),
        (
            "contain,colour=black",
            NORMALIZERS,
            "normalizer 'contain': colour needs a list of whole numbers such as [1,2,3], got 'black'",
        ),
    ],
)
def test_what_is_wrong_with_a_constant_is_told_in_words(text: str, leaves: Catalogue, sentence: str) -> None:
    with pytest.raises(InputError) as raised:
        parse_leaf(text, leaves)
    assert str(raised.value) == sentence


def test_defaults_are_those_of_the_constructor() -> None:
    assert constants_of(NORMALIZERS.get("cover")) == {
        "width": 832,
        "height": 480,
        "most_enlargement": math.inf,
        "resample": "bicubic",
    }
    for leaves in (SPLITTERS, NORMALIZERS):
        for name in leaves:
            leaves.get(name)(**constants_of(leaves.get(name)))
