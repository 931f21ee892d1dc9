"""Files beside footage that say whose it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from inpaintbench.curation.sources.base import Origin, Sidecars
from inpaintbench.curation.sources.folder import FolderSource
from inpaintbench.errors import InputError


def test_the_nearest_file_says_whose_footage_is_and_the_farther_what_it_leaves_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sea" / "deep").mkdir(parents=True)
    (tmp_path / "footage.toml").write_text('licence = "CC0-1.0"\nauthor = "Ada"\n')
    (tmp_path / "sea" / "footage.toml").write_text('author = "Bea"\n')
    (tmp_path / "sea" / "deep" / "waves.mp4.toml").write_text('page = "https://example.org/waves"\n')
    otherwise = Origin(licence="CC-BY-4.0", page="https://example.org")
    expected = {
        "a.mp4": Origin("CC0-1.0", "Ada", "https://example.org"),
        "sea/b.mp4": Origin("CC0-1.0", "Bea", "https://example.org"),
        "sea/deep/c.mp4": Origin("CC0-1.0", "Bea", "https://example.org"),
        "sea/deep/waves.mp4": Origin("CC0-1.0", "Bea", "https://example.org/waves"),
    }
    monkeypatch.chdir(tmp_path)
    for folder in (tmp_path, Path()):
        said = Sidecars(folder, otherwise=otherwise)
        assert {name: said.of(folder / name) for name in expected} == expected
    assert Sidecars(tmp_path / "sea", otherwise=Origin()).of(tmp_path / "sea" / "b.mp4") == Origin(author="Bea")
    assert Sidecars(tmp_path / "sea", otherwise=Origin()).of(Path("/elsewhere/b.mp4")) == Origin()


def test_footage_that_nothing_is_said_of_is_what_it_was_and_another_licence_makes_it_another(tmp_path: Path) -> None:
    (tmp_path / "a.mp4").write_bytes(b"film")
    content = [
        next(FolderSource(folder=str(tmp_path), licence=licence).footage()).content for licence in (None, "CC0-1.0", "MIT")
    ]
    assert len(set(content)) == 3
    (tmp_path / "a.mp4.toml").write_text("")
    (piece,) = FolderSource(folder=str(tmp_path)).footage()  # the file beside it is no footage
    assert (piece.content, piece.licence) == (content[0], None)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("licenc = 'CC0-1.0'", "footage.toml': unknown entry 'licenc', did you mean 'licence'?"),
        ("licence = 1", "footage.toml': licence is 1, not one line of words"),
        ("author = ''", "footage.toml': author is '', not one line of words"),
        ("licence", "footage.toml' is not TOML"),
    ],
)
def test_a_file_that_makes_no_sense_is_one_sentence(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "a.mp4").write_bytes(b"film")
    (tmp_path / "footage.toml").write_text(text)
    with pytest.raises(InputError, match="the file about footage") as error:
        list(FolderSource(folder=str(tmp_path)).footage())
    assert said in str(error.value)
