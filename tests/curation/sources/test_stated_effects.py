"""Side effects of clips, as tables and names of folders state them."""

from __future__ import annotations

from pathlib import Path

import pytest

from inpaintbench.curation.sources.removal_layouts import Stated, by_folders, read_effects
from inpaintbench.errors import InputError


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("dog", Stated()),
        ("Shadow/dog", Stated("shadow")),
        ("light_source/low/dog", Stated("light", "low")),
        ("set/high/translucent/dog", Stated("translucency", "high")),
        ("high/dog", Stated()),  # of what?
        ("shadow/low/high", Stated("shadow")),
        ("common/high/dog", Stated("common")),
    ],
)
def test_folders_say_the_side_effect_and_perhaps_its_strength(name: str, expected: Stated) -> None:
    assert by_folders(name) == expected


def test_a_table_names_one_side_effect_or_several(tmp_path: Path) -> None:
    path = tmp_path / "effects.csv"
    path.write_text("clip,side_effect,strength\na/b,mirror,low\nc,shadow+light,\nd,common,\ne,combined,high\n")
    assert read_effects(path) == {
        "a/b": Stated("mirror", "low"),
        "c": Stated("combined", None, ("shadow", "light")),
        "d": Stated("common"),
        "e": Stated("combined", "high"),
    }


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("clip,side_effect\n", "has no rows"),
        ("clip,effect\na,shadow\n", "unknown column 'effect'"),
        ("clip,side_effect\na,\n", "effects.csv line 2 needs a clip and its side_effect"),
        ("clip,side_effect\na,shadow\na,light\n", "effects.csv line 3 names the clip 'a' again"),
        ("clip,side_effect\na,shadw\n", "line 2: unknown side effect 'shadw'.*shadow"),
        ("clip,side_effect\na,shadow+common\n", "unknown side effect 'common'"),
        ("clip,side_effect,strength\na,shadow,0.5\n", "unknown strength '0.5', choose from high, low, mid"),
        ("clip,side_effect,strength\na,common,low\n", "what has no side effect has no strength"),
    ],
)
def test_what_a_table_cannot_say_is_told_with_its_line(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "effects.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=words):
        read_effects(path)
