"""Languages of the rater's pages: one flat file a language, English text -> that language's.

Code and templates say everything in English; whatever goes to a rater's browser is looked up once, on its way. Values are put
into sentences afterwards, so that these are looked up as a whole.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Container, Mapping
from contextvars import ContextVar
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any, NamedTuple

from inpaintbench.errors import InputError

Words = Mapping[str, str]
ENGLISH = "en"
_FOLDER = files(__name__)
_RANGE = re.compile(r"([A-Za-z0-9-]{1,35})(?:;q=(0(?:\.\d{1,3})?|1(?:\.0{1,3})?))?")
# Who reads traditional characters is not given simplified ones, which are the plain `zh`.
_TRADITIONAL = re.compile(r"zh-(hant|tw|hk|mo)\b")
_ABOVE = {**dict.fromkeys(("zh-tw", "zh-hk", "zh-mo"), "zh-hant"), "zh-hant": ""}
# Of a reply: ids, names, and what people wrote.
_AS_IT_IS = {"rater", "previous", "value", "part", "name", "suggestion"}


class Said(str):
    """A sentence with values, in English, which can still be said in another language: ``Said("{n} of {all}", n=1, all=2)``."""

    template: str
    values: Mapping[str, Any]

    def __new__(cls, template: str, **values: Any) -> Said:
        """The sentence; its values may be sentences too."""
        made = super().__new__(cls, template.format(**values))
        made.template, made.values = template, values
        return made


class Speech(NamedTuple):
    """A language and its words."""

    language: str = ENGLISH
    words: Words = MappingProxyType({})

    def __call__(self, text: str) -> str:
        """``text`` in this language, or as it is."""
        if isinstance(text, Said):
            known = self.words.get(text.template)
            return text if known is None else known.format(**{name: self.all(value) for name, value in text.values.items()})
        return self.words.get(text, text)

    def knows(self, text: str) -> bool:
        """Return whether ``text`` can be said in this language."""
        return self.language == ENGLISH or (text.template if isinstance(text, Said) else text) in self.words

    def all(self, reply: Any) -> Any:
        """A reply as JSON with every text in this language that has one there."""
        if self.language == ENGLISH:
            return reply
        if isinstance(reply, str):
            return self(reply)
        if isinstance(reply, Mapping):
            return {name: value if name in _AS_IT_IS else self.all(value) for name, value in reply.items()}
        return [self.all(value) for value in reply] if isinstance(reply, list | tuple) else reply


# The language of the request that is being answered.
SPEECH: ContextVar[Speech] = ContextVar("speech", default=Speech())  # noqa: B039 - nothing of it can be changed


def best(accepted: str, offered: Container[str]) -> str:
    """The language that suits a header ``Accept-Language`` best: ``de`` for ``de-AT,en;q=0.5``; English where none does."""
    ranges = [(float(weight or 1), tag.lower()) for tag, weight in _RANGE.findall(accepted[:500].replace(" ", ""))]
    if any(_TRADITIONAL.match(tag) for _, tag in ranges):  # browsers add a plain `zh` behind it by themselves
        ranges = [(weight, "zh-hant" if tag == "zh" else tag) for weight, tag in ranges]
    for weight, tag in sorted(ranges, key=lambda one: -one[0]):
        while tag and weight:
            if tag in offered:
                return str(tag)
            tag = _ABOVE.get(tag, tag.rpartition("-")[0])
    return ENGLISH


def shipped() -> list[str]:
    """Languages that come with the program, besides English."""
    return sorted(entry.name.removesuffix(".toml") for entry in _FOLDER.iterdir() if entry.name.endswith(".toml"))


@cache
def words_of(language: str) -> Words:
    """The page's words in a language; none in one that does not come with the program."""
    return parsed(_FOLDER.joinpath(f"{language}.toml").read_text("utf-8"), where=language) if language in shipped() else {}


def parsed(text: str, *, where: str) -> Words:
    """The words of a file.

    Raises:
        InputError: no TOML, or anything but texts in it.
    """
    try:
        words = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{where}: {error}") from error
    if odd := [key for key, value in words.items() if not isinstance(value, str)]:
        raise InputError(f"{where}: {odd[0]!r} is no text; a language is a flat file of texts")
    return words


def places(text: str) -> set[str]:
    """Values that are put into a sentence, as ``{name}``, and any brace beside them."""
    return set(re.findall(r"\{\w+\}|[{}]", text))
