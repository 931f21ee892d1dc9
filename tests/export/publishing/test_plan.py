from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import yaml
from publishing_data import contents, make_dataset

from inpaintbench import frozen
from inpaintbench.errors import InputError, VerifyError
from inpaintbench.export.publishing.push import plan
from inpaintbench.export.verify import verify


def test_it_names_every_file_with_size_and_hash(small: Path) -> None:
    made, files = plan(small), contents(small)
    assert made.sha256 == {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
    assert made.bytes == {name: len(data) for name, data in files.items()}
    assert made.licences() == {"CC-BY-4.0": 1, "not stated": 1, "unknown": 1}
    assert not made.rewritten


def test_unknown_licences_are_listed(small: Path) -> None:
    (told,) = plan(small).obstacles()
    assert told == (
        "nobody stated a known licence of film%201.mp4 (not stated), film%202.mp4 (unknown); state it with --licence SPDX or "
        "--licences FILE"
    )
    assert plan(small, licence="CC0-1.0").obstacles() == []


def test_forbidden_ones_are_listed_whatever_is_stated(tmp_path: Path) -> None:
    folder = make_dataset(tmp_path, licences=("CC-BY-ND-2.0", "all-rights-reserved", None))
    (told,) = plan(folder, licence="CC-BY-4.0").obstacles()
    assert told.startswith(
        "film%200.mp4 (CC-BY-ND-2.0 forbids derivatives), film%201.mp4 (all-rights-reserved forbids redistribution) may not be "
    )
    assert len(plan(folder).obstacles()) == 2


def test_a_stated_licence_is_published_in_rows_card_and_manifest_of_a_dataset_that_verifies(
    small: Path, tmp_path: Path, one_decoder: None
) -> None:
    before = contents(small)
    table = tmp_path / "licences.csv"
    table.write_text("source,licence\nfilm%202.mp4,LicenseRef-ours\n")
    made = plan(small, licence="CC-BY-SA-4.0", licences=table)
    assert contents(small) == before
    assert made.stated == {"s1": "CC-BY-SA-4.0", "s2": "LicenseRef-ours"}
    documents = {"README.md", "NOTICE", "croissant.json", "card/slices.svg", "dataset.json"}
    assert set(made.rewritten) == documents | {
        "low.parquet", "high.parquet", "alone.parquet", "all.parquet", "manifest/files.parquet", "manifest/members.parquet",
    }  # fmt: skip

    # What a reader of the Hub gets.
    copy = Path(shutil.copytree(small, tmp_path / "published"))
    for name, data in made.rewritten.items():
        (copy / name).write_bytes(data)
    assert {name: hashlib.sha256(data).hexdigest() for name, data in contents(copy).items()} == made.sha256
    assert verify(copy).problems == []
    assert frozen.load(copy) == made.dataset
    assert [row["licence"] for row in made.dataset.items] == ["CC-BY-4.0", "CC-BY-SA-4.0", "LicenseRef-ours"]
    assert pq.read_table(copy / "high.parquet")["licence"].to_pylist() == ["CC-BY-SA-4.0", "LicenseRef-ours"]
    assert pq.read_schema(copy / "high.parquet") == pq.read_schema(small / "high.parquet")
    card = (copy / "README.md").read_text()
    header = yaml.safe_load(card.split("---\n")[1])
    assert header["license"] == ["cc-by-4.0", "cc-by-sa-4.0", "other"]
    assert "- CC-BY-SA-4.0: 1 source\n- LicenseRef-ours: 1 source\n" in card
    # `datasets` keeps rows by what the configs say: those without licences must not be taken for these.
    old = yaml.safe_load((small / "README.md").read_text().split("---\n")[1])["configs"]
    assert all(one["description"] != two["description"] for one, two in zip(old, header["configs"], strict=True))


def test_single_sources_may_be_stated_by_id_and_override_the_licence_for_all(small: Path, tmp_path: Path) -> None:
    table = tmp_path / "licences.csv"
    table.write_text("\ufeffsource,licence\ns1,CC0-1.0\ns0,cc-by-4.0\n")
    assert plan(small, licence="MIT", licences=table).stated == {"s1": "CC0-1.0", "s2": "MIT"}


WORDS = "Pexels Licence"


def test_words_are_no_silence_and_stay_for_all_to_see(tmp_path: Path, one_decoder: None) -> None:
    folder = make_dataset(tmp_path, licences=(WORDS, "NoAssertion", WORDS))
    silent, words = plan(folder).obstacles()
    assert silent.startswith("nobody stated a known licence of film%201.mp4 (NoAssertion); state it with")
    # A licence for all is none of those that say something.
    made = plan(folder, licence="CC-BY-4.0")
    assert made.stated == {"s1": "CC-BY-4.0"}
    assert [row["licence"] for row in made.dataset.items] == [WORDS, "CC-BY-4.0", WORDS]
    assert made.obstacles() == [words]
    assert words == (
        "the licence of film%200.mp4 (Pexels Licence), film%202.mp4 (Pexels Licence) is no known one, and --licence does not "
        "replace it; read what it allows, and give each of these sources a line of its own in --licences FILE"
    )
    # One line for each, and what was there before is kept.
    table = tmp_path / "licences.csv"
    table.write_text("source,licence\nfilm%200.mp4,CC-BY-4.0\ns2,CC0-1.0\n")
    made = plan(folder, licence="CC-BY-4.0", licences=table)
    assert made.obstacles() == []
    assert made.dataset.facts["licences_stated"] == {"CC-BY-4.0": 2, "CC0-1.0": 1}
    assert made.stated_over() == made.dataset.facts["licences_stated_over"] == {WORDS: {"CC-BY-4.0": 1, "CC0-1.0": 1}}
    copy = Path(shutil.copytree(folder, tmp_path / "published"))
    for name, data in made.rewritten.items():
        (copy / name).write_bytes(data)
    assert verify(copy).problems == []
    # Whoever publishes that again states nothing, and takes nothing away.
    assert plan(copy, licence="MIT").dataset == made.dataset


@pytest.mark.parametrize("own", ["Not for redistribution", "YouTube Standard License", "Research use only, no sharing"])
def test_a_licence_that_refuses_is_replaced_by_nothing(own: str, tmp_path: Path) -> None:
    folder, table = make_dataset(tmp_path, licences=(own, None, "MIT")), tmp_path / "licences.csv"
    made = plan(folder, licence="CC-BY-4.0")
    assert [row["licence"] for row in made.dataset.items] == [own, "CC-BY-4.0", "MIT"]
    assert made.obstacles()[0].startswith(f"film%200.mp4 ({own} ")
    table.write_text("source,licence\ns0,CC-BY-4.0\n")
    with pytest.raises(InputError, match=f"film%200.mp4 has the licence '{own}' in the dataset, not 'CC-BY-4.0'; correct the"):
        plan(folder, licences=table)


@pytest.mark.parametrize("name", ["s1", "film%201.mp4", "film 1.mp4", "film%20%31.mp4"])
def test_a_source_has_several_names(name: str, small: Path, tmp_path: Path) -> None:
    table = tmp_path / "licences.csv"
    table.write_text(f"source,licence\n{name},MIT\n")
    assert plan(small, licences=table).stated == {"s1": "MIT"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("source,licence\ns0,CC0-1.0\n", r"^film%200.mp4 has the licence 'CC-BY-4.0' in the dataset, not 'CC0-1.0'"),
        ("source,licence\ns9,CC0-1.0\n", "sources that the dataset does not have: s9$"),
        ("source,licence\ns1,CC-BY-ND-4.0\ns2,CC-BY-ND-4.0\n", "licence 'CC-BY-ND-4.0' of s1, s2 forbids derivatives: what is"),
        ("source,licence\nfilm 1.mp4,mine\n", "^'mine' of film 1.mp4 is not a known SPDX id such as CC-BY-4.0"),
        ("source,licence\ns1,MIT\ns2\n", r"licences\.csv' gives no licence for 's2'; write one, or remove the row$"),
        ("source,licence\ns1, \n", r"licences\.csv' gives no licence for 's1'; write one"),
        ("licence,source\nMIT\n", r"row 1 of '.*licences\.csv' gives the licence 'MIT' to no source$"),
        ("source,licence\ns1,MIT\ns1,ISC\n", r"licences\.csv' gives two licences for 's1': 'MIT' and 'ISC'$"),
        ("source,licence\ns1,MIT\nfilm 1.mp4,ISC\n", "^film%201.mp4 has two licences under different names: 'MIT' and 'ISC'$"),
        ("name,licence\ns1,MIT\n", "needs rows with the columns source and licence"),
        ("", "needs rows with the columns source and licence"),
    ],
)
def test_bad_statements_are_one_sentence(text: str, words: str, small: Path, tmp_path: Path) -> None:
    table = tmp_path / "licences.csv"
    table.write_text(text)
    with pytest.raises(InputError, match=words):
        plan(small, licences=table)


def test_a_table_that_cannot_be_read_and_a_useless_licence_are_told(small: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^there is no file '.*none\.csv' with licences$"):
        plan(small, licences=tmp_path / "none.csv")
    with pytest.raises(InputError, match=r"^licences '.*' cannot be read: Is a directory$"):
        plan(small, licences=tmp_path)
    (tmp_path / "latin.csv").write_bytes("source,licence\nfête,MIT\n".encode("latin-1"))
    with pytest.raises(InputError, match=r"^licences '.*latin\.csv' cannot be read: not text in UTF-8$"):
        plan(small, licences=tmp_path / "latin.csv")
    with pytest.raises(InputError, match=r"^the licence 'all rights reserved' forbids redistribution"):
        plan(small, licence="all rights reserved")
    with pytest.raises(InputError, match=r"^'' is not a known SPDX id"):
        plan(small, licence="")


@pytest.mark.parametrize("kind", ["changed", "missing", "extra"])
def test_files_that_differ_are_never_published(kind: str, small: Path) -> None:
    path = small / "truth" / "c1.mp4"
    if kind == "changed":
        data = bytearray(path.read_bytes())
        data[-1] ^= 1
        path.write_bytes(bytes(data))
    elif kind == "missing":
        path.unlink()
    else:
        (small / "note.txt").touch()
    words = {
        "changed": "truth/c1.mp4: changed",
        "missing": "truth/c1.mp4: missing",
        "extra": "note.txt: not in the manifest",
    }
    with pytest.raises(VerifyError, match=words[kind]):
        plan(small)
