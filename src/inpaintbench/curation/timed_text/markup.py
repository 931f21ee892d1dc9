"""HTML-like tags of SubRip and WebVTT, written as ASS override tags."""

from __future__ import annotations

import html
import re

from PIL import ImageColor

_PIECE = re.compile(
    r"<(?P<close>/?)(?P<name>[A-Za-z][A-Za-z0-9]{0,15})(?P<rest>[^<>]{0,400})>"
    r"|<\d[\d:.]{3,20}>"  # WebVTT's karaoke times
    r"|\{\\(?P<override>[^{}\n]{1,200})\}"
    r"|&(?P<entity>amp|lt|gt|nbsp|lrm|rlm|quot|apos|#\d{1,7});"
    r"|(?P<brace>[{}])"
)
_ATTRIBUTE = re.compile(r"(color|size|face)\s{0,9}=\s{0,9}(?:\"([^\"]{0,99})\"|'([^']{0,99})'|([^\s\"'>]{1,99}))", re.IGNORECASE)
_MOST_NESTED = 8
_SWITCHES = {"b": "b", "i": "i", "u": "u", "s": "s", "strong": "b", "em": "i"}
_OTHER = {"c", "v", "lang", "ruby", "rt", "span", "p", "br", "font", "div", "strike", "tt", "small", "big", "a"}
_SAFE_OVERRIDE = re.compile(r"(?:an[1-9]|a\d{1,2}|[bius][01]|b\d00|c&H[0-9A-Fa-f]{1,8}&?|fn[^\\]{1,60}|fs\d{1,3})")


def to_ass_tags(text: str) -> str:
    """``text`` with ``<b> <i> <u> <s> <font>`` as override tags; other tags are dropped, literal braces escaped.

    Overrides that the file itself holds stay where they say alignment or a face (``{\\an8}``) and are dropped otherwise.
    """
    fonts: list[str] = []

    def replaced(match: re.Match[str]) -> str:
        if match["brace"]:
            return "\\" + match["brace"]
        if match["entity"]:
            return html.unescape(match[0]).replace("\0", "").replace("\r", " ").replace("\n", " ")
        if match["override"]:
            return "".join(f"{{\\{tag}}}" for tag in match["override"].split("\\") if _SAFE_OVERRIDE.fullmatch(tag))
        return _tag(match, fonts) if match["name"] else ""

    return _PIECE.sub(replaced, text)


def _tag(match: re.Match[str], fonts: list[str]) -> str:
    name, closes = match["name"].lower(), bool(match["close"])
    if name in _SWITCHES:
        return f"{{\\{_SWITCHES[name]}{0 if closes else 1}}}"
    if name == "font":
        return _font(match["rest"], closes=closes, fonts=fonts)
    # An unknown name in angle brackets may be what somebody said: <sigh> is text, </div> is not.
    return "" if closes or name in _OTHER else match[0]


def _font(attributes: str, *, closes: bool, fonts: list[str]) -> str:
    """Override tags for ``<font>``; at ``</font>`` what held before it: the tags of those still open."""
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
