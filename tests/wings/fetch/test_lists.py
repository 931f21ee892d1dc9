"""Lists of addresses: what is read, and what is told where it cannot be."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from web_footage import write_list

from inpaintbench.errors import InputError
from inpaintbench.wings.fetch.base import Candidate
from inpaintbench.wings.fetch.lists import listed, name_of

ROW = {
    "URL": "https://host.test/a%20b/Clip One.mp4".replace(" ", "%20"), "License": "CC-BY-2.0", "Author": "Ann", "page": "https://host.test/p",
    "Title": "One, two", "fps": 25, "camera": "drone",
}  # fmt: skip


def candidates(path: Path) -> list[Candidate]:
    return list(listed(path, version="1"))


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "parquet"])
def test_every_kind_of_list_says_the_same(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"list.{kind}"
    if kind == "parquet":
        pq.write_table(pa.Table.from_pylist([ROW]), path)
    elif kind == "jsonl":
        path.write_text("\n" + json.dumps(ROW) + "\n")
    else:
        mark = {"csv": ",", "tsv": "\t"}[kind]
        cells = [f'"{value}"' if "," in str(value) else str(value) for value in ROW.values()]
        path.write_text(mark.join(ROW) + "\n" + mark.join(cells) + "\n", encoding="utf-8-sig")
    (one,) = candidates(path)
    assert (one.url, one.licence, one.author, one.page_url, one.title) == (
        ROW["URL"], "CC-BY-2.0", "Ann", "https://host.test/p", "One, two",
    )  # fmt: skip
    assert one.details == {"fps": 25.0, "camera": "drone"}


def test_names_without_a_title_come_from_the_address_alone(tmp_path: Path) -> None:
    urls = ["https://a.test/x/beach.MP4?key=1", "https://a.test/x/beach.MP4?key=2", "https://b.test/beach.mp4", "https://a.test/"]
    first = [one.name for one in candidates(write_list(tmp_path / "a.csv", *urls, columns="url"))]
    again = [one.name for one in candidates(write_list(tmp_path / "b.csv", *reversed(urls), columns="url"))]
    assert first == again[::-1] == [name_of(url) for url in urls]
    assert len(set(first)) == 4
    assert first[0].startswith("beach-")
    assert first[0].endswith(".mp4")
    assert not any("key" in name for name in first)


def test_an_address_that_stands_twice_is_fetched_once(tmp_path: Path) -> None:
    path = write_list(tmp_path / "a.csv", "https://a.test/1,A", "https://a.test/2,B", "https://a.test/1,C", columns="url,author")
    assert [(one.url[-1], one.author) for one in candidates(path)] == [("1", "A"), ("2", "B")]


def test_long_numbers_and_padded_ones_are_names(tmp_path: Path) -> None:
    path = write_list(tmp_path / "a.csv", "https://a.test/1,0042,-1.5,12345678901234567890,nan", columns="url,a,b,c,d")
    assert candidates(path)[0].details == {"a": "0042", "b": -1.5, "c": "12345678901234567890", "d": "nan"}


def test_a_plain_list_may_have_remarks(tmp_path: Path) -> None:
    path = tmp_path / "list.txt"
    path.write_text("# mine\n\nhttps://a.test/1\n  https://a.test/2  \n")
    assert [one.url for one in candidates(path)] == ["https://a.test/1", "https://a.test/2"]


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("a.csv", "link,author\nhttps://a.test/1,x\n", "no column 'url'; it has link, author"),
        ("a.csv", "", "no column 'url'; it has none at all"),
        ("a.csv", "url,author,URL\nhttps://a.test/1,x,https://a.test/2\n", "has two columns 'url'; keep one"),
        ("a.csv", "url\n", "holds no addresses"),
        ("a.csv", "url,author\nhttps://a.test/1\n", r"a.csv, line 2: 1 values for 2 columns"),
        ("a.csv", "url\nhttps://[::1/x?key=secret\n", r"line 2: 'https://\[::1/x' is not an address"),
        ("a.csv", 'url\n"https://a.test/1\n', "cannot be read"),
        ("a.csv", "url\nhttps://a.test/\x00\n", "cannot be read|is not an address"),
        ("a.jsonl", '{"url"\n', r"a.jsonl, line 1: not JSON"),
        ("a.jsonl", "[1]\n", r"a.jsonl, line 1: not a JSON object but '\[1\]'"),
        ("a.jsonl", '{"page": "x"}\n', r"a.jsonl, line 1: there is no address"),
        ("a.parquet", "no parquet", "cannot be read"),
        ("a.doc", "https://a.test/1", "its name must end in .csv"),
        ("a.txt", "# mine\nnot one\n", r"a.txt, line 2: 'not one' is not an address"),
    ],
)
def test_a_list_without_one_address_is_told(tmp_path: Path, name: str, text: str, told: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(InputError, match=told):
        candidates(path)


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("a.csv", "url,author\n{}/1,x\n,y\n{}/2,z\n", {"a.csv, line 3": "there is no address in the column 'url'"}),
        ("a.csv", "url,author\n{}/1,x\n{}/3\n{}/2,z\n", {"a.csv, line 3": "1 values for 2 columns"}),
        ("a.csv", "url\nfile:///etc/passwd\n{}/1\n{}/2\n", {"a.csv, line 2": "'file:///etc/passwd' is not an address such as"}),
        ("a.csv", "url\n{}/1\nx?key=secret\n{}/2\ny\n", {"a.csv, line 3": "'x' is not an", "a.csv, line 5": "'y' is not an"}),
        (
            "a.jsonl",
            '{{"url": "{}/1"}}\n{{"url"\n[1]\n{{"url": "{}/2"}}',
            {"a.jsonl, line 2": "not J", "a.jsonl, line 3": "not a"},
        ),
        ("a.txt", "{}/1\n../a.mp4\n{}/2", {"a.txt, line 2": "'../a.mp4' is not an address"}),
    ],
)
def test_a_bad_line_is_refused_by_its_number_and_the_others_go_on(
    tmp_path: Path, name: str, text: str, told: dict[str, str]
) -> None:
    (tmp_path / name).write_text(text.format(*["https://a.test"] * text.count("{}/")))
    found = candidates(tmp_path / name)
    assert [one.url[-1] for one in found if one.refused is None] == ["1", "2"]
    refused = {one.name: one.refused or "" for one in found if one.refused is not None}
    assert refused.keys() == told.keys()
    assert all(refused[line].startswith(words) for line, words in told.items())
    assert "secret" not in str(found)


def test_names_come_from_the_title_where_there_is_one(tmp_path: Path) -> None:
    url = "https://a.test/x/0042.MP4"
    titles = {
        "Waves at the pier": "Waves_at_the_pier", '"Ähren, 麦 / wind"': "Ähren_麦_wind", "...": "0042", "../../etc": "etc",
        "x" * 99: "x" * 60,
    }  # fmt: skip
    for title, begin in titles.items():
        (one,) = candidates(write_list(tmp_path / "a.csv", f"{url},{title}", columns="url,title"))
        assert one.name == f"{begin}-{one.key}.mp4"
        assert one.name == name_of(url, title=one.title)
        assert name_of(url) == f"0042-{one.key}.mp4"


def test_a_list_in_another_encoding_or_place_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"url\nhttps://a.test/\xff\n")
    for name in ("a.csv", "missing.csv"):
        with pytest.raises(InputError, match=rf"{name}' cannot be read"):
            candidates(tmp_path / name)
