"""Rules as records, as TOML and as expressions."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inpaintbench.curation.rules import Rule, make_rule, parse_label, parse_rules, read_rules
from inpaintbench.errors import InputError

NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_.]{0,12}", fullmatch=True).filter(lambda name: name not in ("in", "not", "or", "and"))
NUMBERS = st.floats(-1e12, 1e12).map(lambda value: value + 0.0)
TEXTS = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")), min_size=1, max_size=12)
VALUES = st.one_of(NUMBERS, TEXTS)


@st.composite
def rules(draw: st.DrawFn) -> Rule:
    about = {draw(st.sampled_from(["attribute", "answer"])): draw(NAMES)}
    kinds = ["equals", "one_of", "none_of"] + (["bounds"] if "attribute" in about else [])
    kind = draw(st.sampled_from(kinds))
    if kind == "bounds":
        low, high = sorted(draw(st.tuples(NUMBERS, NUMBERS)))
        about[draw(st.sampled_from(["at_least", "above"]))] = low
        if low < high:
            about[draw(st.sampled_from(["at_most", "below"]))] = high
    else:
        about[kind] = draw(VALUES) if kind == "equals" else draw(st.lists(VALUES, min_size=1, max_size=3))
    named = draw(st.one_of(st.none(), TEXTS.filter(lambda text: text.isprintable() and text.strip())))
    return Rule(**about, missing=draw(st.sampled_from(["drop", "keep"])), name=named)


@given(rules())
def test_words_and_labels_say_the_whole_rule(rule: Rule) -> None:
    assert parse_rules(rule.words) == (rule.model_copy(update={"name": None}),)
    found = parse_label(rule.label)
    assert found is not None
    assert found.words == rule.words


def test_a_file_in_order(tmp_path: Path) -> None:
    path = tmp_path / "rules.toml"
    path.write_text(
        '[[rule]]\nattribute = "cut_score"\nat_most = 0.3\nname = "no shot changes"\n'
        '[[rule]]\nattribute = "source.uploaded"\nat_least = 2017-06-30\nbelow = "2020"\n'
        '[[rule]]\nanswer = "keep_reject"\nequals = "keep"\nmissing = "keep"\n'
        '[[rule]]\nattribute = "probe.truncated"\nequals = 0\n'
    )
    assert [rule.label for rule in read_rules(path)] == [
        "no shot changes (cut_score <= 0.3)",
        'source.uploaded >= 2017-06-30 and source.uploaded < "2020"',
        'answer:keep_reject = "keep" or missing',
        "probe.truncated = 0",
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[[rule]]\nattribute = "a"\nat_mos = 1', "rule 1: unknown key 'at_mos', did you mean 'at_most'?"),
        ('[[rules]]\nattribute = "a"', "unknown table 'rules', did you mean 'rule'?"),
        ("", "hold no \\[\\[rule\\]\\]"),
        ('rule = "a"', "hold no \\[\\[rule\\]\\]"),
        ('[[rule]]\nattribute = "a"\nat_most = x\nmissing = 1', "not TOML: .*line 3"),
        ('[[rule]]\nattribute = "a"', "rule 1: no bound; give one of at_least"),
        ("[[rule]]\nat_most = 1", "give either attribute or answer"),
        ('[[rule]]\nattribute = "a"\nanswer = "b"\nequals = 1', "give either attribute or answer"),
        ('[[rule]]\nattribute = "a"\nat_least = 2\nat_most = 1', "no value fulfils both bounds: 2 to 1"),
        ('[[rule]]\nattribute = "a"\nabove = 1\nat_most = 1', "no value fulfils both bounds"),
        ('[[rule]]\nattribute = "a"\nabove = 1\nat_least = 1', "bound the same side"),
        ('[[rule]]\nattribute = "a"\nat_most = "high"', "at_most: 'high' is neither a number nor a date"),
        ('[[rule]]\nattribute = "a"\nat_most = true', "at_most: True is neither a number nor a date"),
        ('[[rule]]\nattribute = "a"\nequals = true', "equals: True is neither .* yes and no are stored as 1 and 0"),
        ('[[rule]]\nattribute = "a"\none_of = [1, false]', "one_of: False is neither a number nor a text"),
        ('[[rule]]\nattribute = "a"\nat_most = nan', "at_most: nan is neither"),
        ('[[rule]]\nattribute = "a"\nat_least = 1\nat_most = "2019"', "one bound is a number and the other a date"),
        ('[[rule]]\nattribute = "a"\nequals = 1\nat_most = 1', "exclude each other"),
        ('[[rule]]\nattribute = "a"\none_of = []', "is not a list of values"),
        ('[[rule]]\nattribute = "a"\none_of = "x"', "'x' is not a list of values"),
        ('[[rule]]\nattribute = "a b"\nequals = 1', "'a b' is not a name"),
        ('[[rule]]\nattribute = 3\nequals = 1', "attribute: .* and not 3"),
        ('[[rule]]\nanswer = "q"\nat_most = 1', "an answer is a word"),
        ('[[rule]]\nattribute = "a"\nequals = 1\nmissing = "no"', "missing: .*'drop' or 'keep' and not 'no'"),
        ('[[rule]]\nattribute = "a"\nequals = 1\n[[rule]]\nattribute = "a"\nequals = 1', "rule 2 repeats rule 1, a = 1"),
    ],
)  # fmt: skip
def test_every_mistake_is_one_sentence(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "rules.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=words) as caught:
        read_rules(path)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read: No such file"):
        read_rules(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_bytes(b"\xff\xfe\xff")
    with pytest.raises(InputError, match="cannot be read"):
        read_rules(tmp_path / "bad.toml")


def test_a_recipe_can_hold_rules_as_plain_data() -> None:
    rule = make_rule({"attribute": "a", "one_of": ["x", 2]}, where="here")
    assert Rule(**rule.model_dump(mode="json")) == rule
    assert hash(rule) == hash(Rule(attribute="a", one_of=("x", 2.0)))


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("camera_motion>0.2", [Rule(attribute="camera_motion", above=0.2)]),
        (
            "cut_score<=0.25 and sharpness>=0.3",
            [Rule(attribute="cut_score", at_most=0.25), Rule(attribute="sharpness", at_least=0.3)],
        ),
        ("a >= -1e-3 and b = x and a < 2", [Rule(attribute="a", at_least=-0.001, below=2), Rule(attribute="b", equals="x")]),
        ("letterbox <= 0.02 or flag", [Rule(attribute="letterbox", at_most=0.02, flag=True)]),
        ('l in (CC0, "CC BY 2.0", 3) or missing', [Rule(attribute="l", one_of=("CC0", "CC BY 2.0", 3), missing="keep")]),
        ("a not in (1) and b != 2", [Rule(attribute="a", none_of=(1,)), Rule(attribute="b", none_of=(2,))]),
        ("source.uploaded >= 2017-01-01", [Rule(attribute="source.uploaded", at_least="2017-01-01")]),
        ("answer:keep_reject == keep", [Rule(answer="keep_reject", equals="keep")]),
    ],
)
def test_expressions(expression: str, expected: list[Rule]) -> None:
    assert list(parse_rules(expression)) == expected


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("", "is empty"), ("a", "needs an operator such as <= at its end"), ("a <", "needs a value at its end"),
        ("a < 1 or b < 2", "needs 'missing' instead of 'b < 2'"), ("a < 1 b < 2", "needs 'and' instead of 'b < 2'"),
        ("a < 1 and", "needs a name at its end"), ("a < 1 and a < 2", "says below of a twice"),
        ("a < b", "below: 'b' is neither a number nor a date"), ("a in (1", "needs '\\)' at its end"),
        ("__import__('os').system('x')", "needs a name, an operator or a value instead of"), ("a > 1; b", "instead of '; b'"),
        ("3 < a", "needs a name instead of '3 < a'"), ("a > 2 and a < 1", "no value fulfils both bounds"),
        ('a = "\\q"', "is not a text in double quotes"),
    ],
)  # fmt: skip
def test_what_is_no_expression(expression: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        parse_rules(expression)


def test_labels_of_other_kinds_are_no_rules() -> None:
    assert parse_label("mask.overlay_fraction among the highest 70%") is None
    assert parse_label("") is None
    assert parse_label("a <= 1 and b <= 2") is None
