"""HTML-like tags of SubRip and WebVTT, written as ASS override tags."""

from __future__ import annotations

import html
import re
from collections.abc import Collection

from PIL import ImageColor

_PIECE = re.compile(
    r"<(?P<close>/?)(?P<name>[A-Za-z][A-Za-z0-9:-]{0,30})(?P<rest>(?:[\s/.][^<>]{0,400})?)>"
    r"|<!(?:--)?[^<>]{0,400}>"  # comments and document types
    r"|<\d[\d:.]{3,20}>"  # WebVTT's karaoke times
    r"|\{\\(?P<override>[^{}\n]{1,200})\}"
    r"|(?P<entity>&(?:#\d{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});)"
    r"|(?P<brace>[{}])"
)
_ATTRIBUTE = re.compile(r"(color|size|face)\s{0,9}=\s{0,9}(?:\"([^\"]{0,99})\"|'([^']{0,99})'|([^\s\"'>]{1,99}))", re.IGNORECASE)
_HIDDEN = re.compile(r"<(script|style)(?:\s[^<>]{0,400})?>", re.IGNORECASE)
_HIDDEN_END = {name: re.compile(rf"</{name}\s{{0,99}}>", re.IGNORECASE) for name in ("script", "style")}
_CLOSED = re.compile(r"</([A-Za-z][A-Za-z0-9:-]{0,30})\s{0,99}>")
_MOST_NESTED = 8
_SWITCHES = {"b": "b", "i": "i", "u": "u", "s": "s", "strong": "b", "em": "i"}
_BREAKS = frozenset({"br", "p", "div", "li", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "blockquote", "pre"})
# Elements of HTML and WebVTT, but for those that are words which stand in angle brackets for what is heard.
_KNOWN = frozenset({
    "a", "abbr", "address", "article", "aside", "audio", "b", "big", "body", "button", "c", "canvas", "center", "cite", "code",
    "dd", "del", "dl", "dt", "em", "font", "footer", "form", "frame", "frameset", "head", "header", "html", "i", "iframe", "img",
    "input", "ins", "kbd", "label", "lang", "link", "main", "mark", "meta", "nav", "nobr", "noscript", "object", "ol", "option",
    "rb", "rp", "rt", "ruby", "s", "script", "section", "select", "small", "span", "strike", "strong", "style", "sub", "sup",
    "svg", "table", "tbody", "td", "textarea", "tfoot", "th", "thead", "title", "tt", "u", "ul", "v", "var", "video", "wbr",
})  # fmt: skip
_SAFE_OVERRIDE = re.compile(r"(?:an[1-9]|a\d{1,2}|[bius][01]|b\d00|c&H[0-9A-Fa-f]{1,8}&?|fn[^\\]{1,60}|fs\d{1,3})")
_OVERRIDES = re.compile(r"(?:\{\\[^{}]{0,200}\})+")


def to_ass_tags(text: str) -> str:
    """``text`` with ``<b> <i> <u> <s> <font>`` as override tags; other tags are dropped, literal braces escaped.

    ``<br>`` and ``<p>`` begin lines, scripts and style sheets are dropped with what is in them, entities are the characters they
    stand for. ``<sigh>`` stays: a name that HTML does not know counts as a tag only with attributes or when it is closed.
    Overrides that the file itself holds stay where they say alignment or a face (``{\\an8}``) and are dropped otherwise.
    """
    fonts: list[str] = []
    text = _without_hidden(text)
    closed = {name.lower() for name in _CLOSED.findall(text)}

    def replaced(match: re.Match[str]) -> str:
        if match["brace"]:
            return "\\" + match["brace"]
        if match["entity"]:
            return _character(match["entity"])
        if match["override"]:
            return "".join(f"{{\\{tag}}}" for tag in match["override"].split("\\") if _SAFE_OVERRIDE.fullmatch(tag))
        return _tag(match, fonts, closed) if match["name"] else ""

    return _full_lines(_PIECE.sub(replaced, text))


def _without_hidden(text: str) -> str:
    """``text`` without scripts and style sheets; one that never ends takes all that follows."""
    kept, start = [], 0
    while opening := _HIDDEN.search(text, start):
        kept.append(text[start : opening.start()])
        closing = _HIDDEN_END[opening[1].lower()].search(text, opening.end())
        if closing is None:
            return "".join(kept)
        start = closing.end()
    return "".join([*kept, text[start:]])


def _character(entity: str) -> str:
    shown = html.unescape(entity).replace("\0", "").replace("\r", " ").replace("\n", " ")
    return "".join("\\" + letter if letter in "{}" else letter for letter in shown)


def _full_lines(text: str) -> str:
    """The lines of ``text`` that show something; override tags that stand alone move to the next of them."""
    lines, waiting = [], ""
    for line in text.split("\n"):
        stripped = (waiting + line.strip()).strip()
        waiting = stripped if not _OVERRIDES.sub("", stripped).strip() else ""
        lines += [] if waiting or not stripped else [stripped]
    return "\n".join(lines)


def _tag(match: re.Match[str], fonts: list[str], closed: Collection[str]) -> str:
    name, closes = match["name"].lower(), bool(match["close"])
    if name in _SWITCHES:
        return f"{{\\{_SWITCHES[name]}{0 if closes else 1}}}"
    if name == "font":
        return _font(match["rest"], closes=closes, fonts=fonts)
    if name in _BREAKS:
        return "\n"
    # An unknown name in angle brackets may be what somebody said: <sigh> is text, <x-note id=3> is not.
    is_tag = closes or name in _KNOWN or name in closed or "=" in match["rest"] or match["rest"].endswith("/")
    return "" if is_tag else match[0]


def _font(attributes: str, *, closes: bool, fonts: list[str]) -> str:
    """Override tags for ``<font>``; where it ends, what held before it: the tags of those still open."""
    if not closes:
        fonts.append("".join(_attribute(*found) for found in _ATTRIBUTE.findall(attributes)))
        return fonts[-1]
    if not fonts:
        return ""
    fonts.pop()
    # An empty colour, name or size means that of the style.
    return "{\\c}{\\fn}{\\fs}" + "".join(fonts[-_MOST_NESTED:])


def _attribute(name: str, *values: str) -> str:
    value = next((value for value in values if value), "").strip()
    if name.lower() == "face":
        return f"{{\\fn{value}}}" if value and not set(value) & set("{}\\") else ""
    if name.lower() == "size":
        return f"{{\\fs{value}}}" if value.isdecimal() and value.isascii() and len(value) < 4 else ""
    try:
        red, green, blue = ImageColor.getrgb(value)[:3]
    except ValueError:
        return ""
    return f"{{\\c&H{blue:02X}{green:02X}{red:02X}&}}"
