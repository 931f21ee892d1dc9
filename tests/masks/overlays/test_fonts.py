"""Finding fonts, with and without fontconfig."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from inpaintbench.errors import InputError
from inpaintbench.masks.overlays import fonts
from inpaintbench.masks.overlays.fonts import BUNDLED, FontFile, find_font, installed_families, load, missing, split_by_font

CJK, HEBREW, NOWHERE = "中文", "שלום", "\U00010a60"  # the last: Old South Arabian, which hardly any font has


@pytest.fixture
def no_fontconfig(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("PATH", "")
    caches = (fonts._listed, fonts._family_face)
    for cache in caches:
        cache.cache_clear()
    yield
    for cache in caches:
        cache.cache_clear()


def need(family: str) -> None:
    if installed_families([family]) != (family,):
        pytest.skip(f"{family} is not installed")


def test_the_bundled_font_always_serves_and_carries_its_licence() -> None:
    font = find_font(BUNDLED, bold=True, italic=True, characters="Hello " + HEBREW)
    assert Path(font.path).name == "DejaVuSans.ttf"
    assert font.embolden
    assert font.slant
    assert "Bitstream Vera" in (Path(font.path).parent / "LICENSE-DejaVu.txt").read_text()
    assert load(font, 20.0).getname()[0] == "DejaVu Sans"


def test_real_faces_are_taken_where_the_family_has_them() -> None:
    need("Liberation Sans")
    font = find_font("liberation sans", bold=True, italic=True)
    assert load(font, 20.0).getname() == ("Liberation Sans", "Bold Italic")
    assert not font.embolden
    assert not font.slant
    assert load(find_font("Liberation Sans"), 20.0).getname() == ("Liberation Sans", "Regular")


def test_a_missing_family_names_the_nearest_and_the_way_out() -> None:
    need("DejaVu Sans")
    with pytest.raises(InputError, match=r"'DejaVu Sanz' is not installed; installed are e\.g\. .*'DejaVu Sans'.*fonts-dejavu"):
        find_font("DejaVu Sanz")


def test_another_family_may_stand_in_for_one_that_a_file_names() -> None:
    need("DejaVu Sans")
    assert Path(find_font("Some Font Nobody Has", substitute=True).path).is_file()


def test_characters_come_from_a_font_that_has_them() -> None:
    need("Droid Sans Fallback")
    own = find_font(BUNDLED)
    assert missing(own, "ab" + CJK) == CJK
    font = find_font(BUNDLED, characters=CJK)
    assert font.path != own.path
    assert not missing(font, CJK)
    pieces = split_by_font(f"ab {CJK} cd", BUNDLED, bold=False, italic=False, substitute=False)
    assert "".join(text for text, _ in pieces) == f"ab {CJK} cd"
    assert {font.path for text, font in pieces if CJK[0] in text} == {font.path}


def test_characters_that_no_font_has_are_named() -> None:
    with pytest.raises(InputError, match=r"no installed font has the characters .*U\+10A60"):
        find_font(BUNDLED, characters="a" + NOWHERE)


@pytest.mark.usefixtures("no_fontconfig")
def test_without_fontconfig_no_family_is_silently_another() -> None:
    with pytest.raises(
        InputError, match=r"'Comic Sanz' cannot be looked for, because fontconfig's program fc-list is missing.*apt"
    ):
        find_font("Comic Sanz")
    with pytest.raises(InputError, match="cannot be looked for"):
        find_font("DejaVu Sans", bold=True)


@pytest.mark.usefixtures("no_fontconfig")
def test_without_fontconfig_the_bundled_font_serves() -> None:
    assert find_font(BUNDLED, italic=True) == FontFile(find_font(BUNDLED).path, slant=True)
    assert find_font("Named By A File", italic=True, substitute=True) == find_font(BUNDLED, italic=True)
    assert installed_families() == (BUNDLED,)
    with pytest.raises(InputError, match="no installed font has the characters"):
        find_font(BUNDLED, characters=CJK)


def test_words_of_another_script_stay_together_with_the_spaces_between_them() -> None:
    need("Liberation Mono")
    text = "سلام عليكم، أهلا"
    assert missing(find_font("Liberation Mono"), text)
    pieces = split_by_font(text, "Liberation Mono", bold=False, italic=False, substitute=False)
    assert [piece for piece, _ in pieces] == [text]
