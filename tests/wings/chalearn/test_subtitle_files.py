"""Subtitle files good and bad: what can be read is read, the rest is named by line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inpaintbench.errors import InputError
from inpaintbench.types import TextEvent
from inpaintbench.wings.chalearn.captions import parse_timed_text, read_timed_text
from inpaintbench.wings.chalearn.cues import TimedText

SUBRIP = """1
00:00:01,000 --> 00:00:02,500 X1:10 X2:20 Y1:30 Y2:40
<b>Hello</b> <font color="#ff8000" size="20" face='Arial'>there</font>
{\\an8}second {line}

2
00:00:03.5 --> 00:00:04
& &amp; &lt;sigh&gt; <sigh> <unknown>

00:00:02,000 --> 00:00:05,250
no number, overlaps

word after an empty line
"""
WEB = """WEBVTT - a title

NOTE a comment
of two lines

STYLE
::cue { color: red }

intro
00:01.000 --> 00:02.000 line:0 align:start
<v Somebody><i>one</i> &amp; two

a stray paragraph

01:00:00.000 --> 01:00:01.000
late
"""
ASS = """[Script Info]
; a comment
PlayResX: 640
PlayResY: 360

[V4+ Styles]
Format: Name, Fontname, Fontsize, PrimaryColour, SecondaryColour, OutlineColour, BackColour, Bold, Italic, Underline, StrikeOut, \
ScaleX, ScaleY, Spacing, Angle, BorderStyle, Outline, Shadow, Alignment, MarginL, MarginR, MarginV, Encoding
Style: Top,Liberation Serif,24,&H8000FFFF,&H000000FF,&H00102030,&H80000000,-1,0,0,0,100,100,0,0,3,1.5,2,8,11,12,13,1

[Events]
Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text
Dialogue: 0,0:00:01.00,0:00:02.50,Top,,0,0,99,,Hello, {\\i1}you\\Nthere\\hnow
Comment: 0,0:00:01.00,0:00:02.50,Top,,0,0,0,,not shown
Dialogue: 0,0:00:xx.00,0:00:02.50,Top,,0,0,0,,bad time
Dialogue: 0,0:00:03.00
Dialogue: 0,0:00:05.00,0:00:04.00,Top,,0,0,0,,backwards
Dialogue: 0,0:00:03.00,0:00:04.00,Unknown,,0,0,0,,default style
"""


def lines_of(found: TimedText) -> list[int]:
    return [row.line for row in found.skipped]


def test_subrip() -> None:
    found = parse_timed_text(SUBRIP.encode())
    assert found.skipped == ()
    assert found.notes == ()
    first, third, second = found.events
    assert (first.start_seconds, first.end_seconds) == (1.0, 2.5)
    assert first.text == ("{\\b1}Hello{\\b0} {\\c&H0080FF&}{\\fs20}{\\fnArial}there{\\c}{\\fn}{\\fs}\n{\\an8}second \\{line\\}")
    assert (second.start_seconds, second.end_seconds, second.text) == (3.5, 4.0, "& & <sigh> <sigh> <unknown>")
    assert third == TextEvent(2.0, 5.25, "no number, overlaps\nword after an empty line")


@pytest.mark.parametrize("newline", ["\r\n", "\r", "\n"])
@pytest.mark.parametrize("mark", [True, False], ids=["mark", "no mark"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("text", ["Grüße – déjà vu", "Привет, мир", "你好，世界", "こんにちは 😀"])
def test_line_ends_encodings_and_byte_order_marks_change_nothing(newline: str, encoding: str, mark: bool, text: str) -> None:
    written = SUBRIP + f"\n9\n00:01:00,000 --> 00:01:01,000\n{text}\n"
    found = parse_timed_text(("\ufeff" * mark + written.replace("\n", newline)).encode(encoding))
    assert found.events == parse_timed_text(written.encode()).events
    assert [event.text for event in found.events[-1:]] == [text]
    assert [note.partition(",")[0] for note in found.notes] == ([f"read as {encoding}"] if encoding != "utf-8" else [])


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp1251", "Привет, мир, как дела сегодня"),
        ("koi8-r", "Привет, мир, как дела сегодня"),
        ("cp1253", "Καλημέρα, κόσμε, τι κάνεις"),
        ("gbk", "你好，世界。今天天气很好，我们出去走走吧"),
        ("shift-jis", "こんにちは、世界。今日はいい天気ですね。"),
        ("euc-kr", "안녕하세요 여러분 오늘 날씨가 좋네요"),
    ],
)
def test_text_in_an_encoding_that_nobody_can_tell_is_refused_and_not_garbled(encoding: str, text: str) -> None:
    for written in (f"1\n00:00:00,000 --> 00:00:01,000\n{text}\n", ASS.replace("Hello", text)):
        found = parse_timed_text(written.encode(encoding))
        assert (found.events, found.skipped) == ((), ())
        assert re.fullmatch(r"its encoding cannot be told: byte \d+ is not UTF-8, and \d+% .* save it as UTF-8", found.notes[0])


@pytest.mark.parametrize(
    "text", ["Où ça ? À côté, là-bas, près de l'école où naît l'été", "Ærlig talt, på øya, så går gjøken", "¿Qué? ¡Así, señor!"]
)
def test_western_european_text_is_read_as_windows_1252(text: str) -> None:
    found = parse_timed_text(("1\n00:00:00,000 --> 00:00:01,000\n" + f"{text}\n" * 9).encode("cp1252"))
    assert found.events[0].text == "\n".join([text] * 9)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize(
    "text", ["ผมไม่เคยคิดเลยว่าเราจะได้กลับมาพบกันอีกครั้ง" * 4, "今日はいい天気ですね。" * 40, "안녕하세요 여러분 " * 30]
)
def test_events_of_long_texts_in_other_scripts_need_no_byte_order_mark(text: str, encoding: str) -> None:
    written = f"WEBVTT\n\n00:01.000 --> 00:02.000\n{text.strip()}\n"
    assert parse_timed_text(written.encode(encoding)).events == (TextEvent(1.0, 2.0, text.strip()),)


def test_zero_bytes_are_told() -> None:
    block = b"1\n00:00:00,000 --> 00:00:01,000\nfine\n\n"
    found = parse_timed_text(block + bytes(300))
    assert found.notes[0] == "zero bytes, which no text has: 300; the file is damaged or no text"
    assert parse_timed_text(bytes(40)).notes[0].startswith("zero bytes, which no text has: 40")


def test_other_encodings_are_read_and_said() -> None:
    block = "1\n00:00:00,000 --> 00:00:01,000\ncafé – ".encode("cp1252")
    found = parse_timed_text(block)
    assert found.events[0].text == "café –"
    assert "Windows-1252" in found.notes[0]
    assert "Latin-1" in parse_timed_text(block + b"\x81").notes[0]


@pytest.mark.parametrize(
    ("block", "reason"),
    [
        ("00:00:05,000 --> 00:00:04,000\ntext", "before it starts"),
        ("00:00:05,000 --> 00:00:05,000\ntext", "lasts 0 s"),
        ("00:00:05,000 --> 00:00:06,000\n\n", "no text"),
        ("00:00:05,000 --> soon\ntext", "cannot be read"),
        ("five --> six\ntext", "cannot be read"),
        ("00:00:05,000 - 00:00:06,000\ntext", "cannot be read"),
        ("just text", "without times"),
    ],
)
def test_a_broken_block_costs_one_block_and_is_named(block: str, reason: str) -> None:
    before, after = (f"{i}\n00:00:0{i},000 --> 00:00:0{i},500\ngood" for i in (1, 9))
    found = parse_timed_text(f"{before}\n\n2\n{block}\n\n{after}\n".encode())
    assert [event.start_seconds for event in found.events] == [1.0, 9.0]
    assert [event.text for event in found.events] == ["good", "good"]
    assert len(found.skipped) == 1
    assert reason in found.skipped[0].reason
    assert found.skipped[0].line in (5, 6)


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("<html><body onload=x><script>alert(1)</script><p>hello<br>you", "hello\nyou"),
        ("<P CLASS='a b'>one</P>\n<p>two<br/>three<BR />four</p>", "one\ntwo\nthree\nfour"),
        ("a<style>p { color: red }</style>b <STYLE type=x>never closed", "ab"),
        ("<!DOCTYPE html><!-- a note -->text", "text"),
        ("1 < 2 and 3 > 2, <3, a<b, x <- y", "1 < 2 and 3 > 2, <3, a<b, x <- y"),
        ("<sigh> no <x-note id=3>tag</x-note> <laughs softly>", "<sigh> no tag <laughs softly>"),
        ("<unknown>closed</unknown> <img src='a.png'/><span style=\"color: red\">in</span>", "closed in"),
        (
            "caf&eacute; &hellip; &#8212; &#x1F600; &lcub;x&rcub; AT&T &unknown; &lt;b&gt;",
            "café … — 😀 \\{x\\} AT&T &unknown; <b>",
        ),
        ("<i>\nslanted\n</i>\n<b>bold</b>", "{\\i1}slanted\n{\\i0}{\\b1}bold{\\b0}"),
    ],
)
def test_markup_is_read_and_not_shown(written: str, shown: str) -> None:
    found = parse_timed_text(f"1\n00:00:01,000 --> 00:00:02,000\n{written}\n".encode())
    assert [event.text for event in found.events] == [shown]
    assert found.skipped == ()


@pytest.mark.parametrize(
    ("start", "reason"), [("00:99:01,000", "minutes are 99, above 59"), ("00:01:60,000", "seconds are 60, above 59")]
)
def test_times_of_more_than_59_minutes_or_seconds_are_refused(start: str, reason: str) -> None:
    good = "1\n00:59:59,000 --> 01:00:00,000\nlast second\n"
    found = parse_timed_text(f"{good}\n2\n{start} --> 02:00:00,000\ntext\n".encode())
    assert [event.start_seconds for event in found.events] == [3599.0]
    assert [(row.line, reason in row.reason) for row in found.skipped] == [(6, True)]
    bad_ass = ASS.replace("0:00:03.00,0:00:04.00,Unknown", f"{start[1:8]}.00,0:59:00.00,Unknown")
    assert any(reason in row.reason and row.line == 17 for row in parse_timed_text(bad_ass.encode()).skipped)


def test_digits_below_a_text_are_text_unless_they_count_on() -> None:
    times = [f"00:00:0{i},000 --> 00:00:0{i},500" for i in range(9)]
    year = parse_timed_text(f"1\n{times[1]}\nIn the year\n1984\n{times[2]}\nbefore\n".encode())
    assert [event.text for event in year.events] == ["In the year\n1984", "before"]
    assert year.notes == ()
    alone = parse_timed_text(f"{times[1]}\n1984\n{times[2]}\nbefore\n".encode())
    assert [event.text for event in alone.events] == ["1984", "before"]
    dense = parse_timed_text("".join(f"{i}\n{times[i]}\ntext {i}\n" for i in range(1, 5)).encode())
    assert [event.text for event in dense.events] == ["text 1", "text 2", "text 3", "text 4"]
    assert dense.notes == ("numbers directly below a text are taken for those of blocks: 3, the first in line 4",)


def test_one_wrong_byte_costs_one_character() -> None:
    content = f"1\n00:00:00,000 --> 00:00:01,000\n{'déjà vu, ça où' * 20}\n".encode()
    place = content.index("ç".encode())
    found = parse_timed_text(content[:place] + b"\xff" + content[place:])
    assert found.events[0].text == ("déjà vu, ça où" * 20).replace("ç", "\N{REPLACEMENT CHARACTER}ç", 1)
    assert found.notes == (f"read as UTF-8, wrong places replaced by U+FFFD: 1; byte {place} is not UTF-8",)
    marked = parse_timed_text(b"\xef\xbb\xbf00:00:00,000 --> 00:00:01,000\nwith a mark \xff\n")
    assert marked.events[0].text == "with a mark \N{REPLACEMENT CHARACTER}"
    old = parse_timed_text("00:00:00,000 --> 00:00:01,000\nÃ© déjà vu, ça où".encode("cp1252"))
    assert old.events[0].text == "Ã© déjà vu, ça où"


def test_text_before_the_first_block_is_named() -> None:
    found = parse_timed_text(b"junk\nmore junk\n\n1\n00:00:01,000 --> 00:00:02,000\nhi\n")
    assert [event.text for event in found.events] == ["hi"]
    assert lines_of(found) == [1]


def test_web_vtt() -> None:
    found = parse_timed_text(WEB.encode())
    assert found.events == (TextEvent(1.0, 2.0, "{\\i1}one{\\i0} & two"), TextEvent(3600.0, 3601.0, "late"))
    assert lines_of(found) == [13]


def test_ass() -> None:
    found = parse_timed_text(ASS.encode())
    assert lines_of(found) == [14, 15, 16]
    shown, plain = found.events
    assert (shown.start_seconds, shown.end_seconds) == (1.0, 2.5)
    assert shown.text == "Hello, {\\i1}you\nthere\N{NO-BREAK SPACE}now"
    assert shown.style == {
        "Fontname": "Liberation Serif", "Fontsize": 24.0, "PrimaryColour": "&H8000FFFF", "OutlineColour": "&H00102030",
        "BackColour": "&H80000000", "Bold": True, "Italic": False, "Underline": False, "StrikeOut": False, "BorderStyle": 3,
        "Outline": 1.5, "Shadow": 2.0, "Alignment": 8, "MarginL": 11, "MarginR": 12, "MarginV": 99, "PlayResX": 640,
        "PlayResY": 360,
    }  # fmt: skip
    assert plain.style is not None
    assert plain.style["Fontname"] == "Arial"


@pytest.mark.parametrize(
    "line",
    [
        "<font ",
        "<script>",
        "<style",
        "</b",
        "<!--",
        "-->",
        "00:",
        "{\\an8",
        "<b>",
        " ",
        "1\n",
        "[Script Info]\n[Events]\nDialogue: ,",
        "<font color=red>",
        "&#1;",
    ],
)
@pytest.mark.parametrize("length", [500_000, pytest.param(10_000_000, marks=pytest.mark.long)])
def test_millions_of_characters_on_a_line_are_read(line: str, length: int) -> None:
    timing = b"1\n00:00:01,000 --> 00:00:02,000\n"
    found = parse_timed_text(timing + line.encode() * (length // len(line)))
    assert len(found.events) + len(found.skipped) >= 1


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes_are_read(content: bytes) -> None:
    found = parse_timed_text(content)
    assert all(note and note.splitlines() == [note] for note in found.notes)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from([SUBRIP, WEB, ASS]), st.data())
def test_a_mangled_file_still_gives_events_or_reasons(good: str, data: st.DataObject) -> None:
    content = bytearray(good.encode())
    for _ in range(data.draw(st.integers(1, 8))):
        start = data.draw(st.integers(0, len(content)))
        end = data.draw(st.integers(start, min(len(content), start + 40)))
        content[start:end] = data.draw(st.binary(max_size=12) | st.sampled_from([b"-->", b"\n\n", b"{", b"<font", b"0", b"\x00"]))
    found = parse_timed_text(bytes(content))
    for event in found.events:
        assert event.start_seconds < event.end_seconds
        assert event.text.strip()
    assert all(1 <= row.line <= content.count(b"\n") + content.count(b"\r") + 1 and row.reason for row in found.skipped)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 10**7), st.integers(1, 10**5), st.text("ab ç中'", min_size=1, max_size=20)), max_size=6))
def test_what_is_written_is_read(rows: list[tuple[int, int, str]]) -> None:
    def stamp(milliseconds: int) -> str:
        seconds, rest = divmod(milliseconds, 1000)
        return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02},{rest:03}"

    written = "".join(f"{i}\n{stamp(at)} --> {stamp(at + lasts)}\n{text}\n\n" for i, (at, lasts, text) in enumerate(rows, 1))
    wanted = sorted((at / 1000, (at + lasts) / 1000, text.strip()) for at, lasts, text in rows if text.strip())
    found = parse_timed_text(written.encode())
    assert sorted((event.start_seconds, event.end_seconds, event.text) for event in found.events) == wanted
    assert len(found.events) + len(found.skipped) == len(rows)


def test_a_missing_file_and_a_folder_are_clear_errors(tmp_path: Path) -> None:
    for path in (tmp_path / "none.srt", tmp_path):
        with pytest.raises(InputError, match="cannot read the subtitles"):
            read_timed_text(path)


def test_an_empty_file_says_so(tmp_path: Path) -> None:
    (tmp_path / "empty.srt").touch()
    found = read_timed_text(tmp_path / "empty.srt")
    assert (found.events, found.skipped, found.notes) == ((), (), ("the file holds no events",))


@pytest.mark.real
def test_real_files(assets: Path) -> None:
    folder = assets / "subtitles" / "srt-moviepy"
    assert read_timed_text(folder / "subtitles-unicode.srt").events == (TextEvent(0.0, 5.0, "ÁÉíöÙ"),)
    plain = read_timed_text(folder / "subtitles.srt")
    assert [event.text for event in plain.events] == ["Red!", "More Red!", "Green!", "Blue", "More Blue!"]
    assert (plain.events[2].start_seconds, plain.events[2].end_seconds) == (5.0, 6.0)
    web = read_timed_text(assets / "videos" / "scenery" / "scenery-cc0-mdn" / "stream-of-water.vtt")
    assert [event.text for event in web.events] == ["~ Stream of Water ~", "* One *", "** Two **", "- Bye -"]
    assert not plain.skipped
    assert not web.skipped
