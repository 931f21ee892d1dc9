"""One way to make a page: a template, its data, its scripts, and the policy that lets nothing else run."""

from __future__ import annotations

import base64
import hashlib
import json
import posixpath
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib import resources
from typing import Any

from markupsafe import Markup

from inpaintbench.files import without_controls
from inpaintbench.lazily import lazily
from inpaintbench.pages import words
from inpaintbench.pages.colours import MethodStyle
from inpaintbench.pages.panels import Link
from inpaintbench.pages.tables import comma_separated, latex

jinja2 = lazily("jinja2")

# Runs first, so that what needs scripts is not seen to appear.
_MARK = 'document.documentElement.classList.add("js");'
_OWN = "pages/static/page.js"
# In JSON: a character that ``without_controls`` replaces, after backslashes that are text.
_ESCAPED = re.compile(r"(?<!\\)((?:\\\\)*)\\(u00[01][0-9a-f]|u007f|u00[89][0-9a-f]|u061c|u200[ef]|u202[89a-e]|u206[6-9])")
# Colours by what they mean, light and dark.
TOKENS = "pages/static/tokens.css"
# Stylesheets of every page: colours, then the look.
STYLESHEETS = (TOKENS, "pages/static/style.css")


@dataclass(frozen=True)
class Media:
    """Files that lie beside a page: path -> bytes."""

    files: Mapping[str, bytes] = field(default_factory=dict)


@lru_cache(maxsize=1)
def _environment() -> Any:
    """Templates are named by their path in the package: ``eval/report/page.html``."""

    def shown(value: object) -> object:
        """A part of a page, as letters that stay where they are put."""
        return type(value)(without_controls(value)) if isinstance(value, str) else value

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("inpaintbench", "."), autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True,
        lstrip_blocks=True, finalize=shown,
    )  # fmt: skip
    for name in ("number", "signed", "share", "percent", "signed_percent", "interval", "percents", "count", "duration", "moment",
                 "along", "breakable", "css_class", "method_class"):  # fmt: skip
        environment.filters[name] = getattr(words, name)
    environment.globals["_"] = lambda text: text  # pages that are in other languages bring another one
    environment.filters |= {"json": as_json, "latex": latex, "comma_separated": comma_separated, "packed": packed}
    return environment


def render(template: str, **parts: Any) -> Markup:
    """A template, named by its path in the package, filled in; what is no ``Markup`` is escaped."""
    return Markup(_environment().get_template(template).render(**parts))


def as_json(value: object) -> Markup:
    """``value`` as JSON that a script can read and that no text inside can end."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    # Scripts show what they read, so that a character that is only escaped reaches the page all the same.
    text = _ESCAPED.sub(lambda found: found[1] + "\\\\" + found[2], text)
    for mark in "<>&":
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    return Markup(text)


def asset(path: str) -> str:
    """A text file of the package."""
    return resources.files("inpaintbench").joinpath(path).read_text(encoding="utf-8")


_IMPORT = re.compile(r'^import \{([^}]+)\} from "([^"]+)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:class|const|function) (\w+))", re.MULTILINE)


@cache
def bundle(*paths: str, name: str = "shared") -> str:
    """Modules of the package, and what they import, as one script: the object ``name`` holds all that those of ``paths`` export.

    A page that is opened from a disk can load no module.
    """
    made: dict[str, str] = {}

    def module(path: str) -> str:
        """The name of a module that is made, after those that it imports."""
        if path not in made:
            text = _IMPORT.sub(
                lambda found: (
                    f"const {{{found[1].replace(' as ', ': ')}}} = "
                    f"modules[{json.dumps(module(posixpath.normpath(posixpath.join(posixpath.dirname(path), found[2]))))}];"
                ),
                asset(path),
            )
            own = ", ".join(_EXPORT.findall(text))
            made[path] = f"modules[{json.dumps(path)}] = (() => {{\n{_EXPORT.sub('', text)}\nreturn {{ {own} }};\n}})();"
        return path

    named = ", ".join(f"...modules[{json.dumps(module(path))}]" for path in paths)
    body = "\n".join(made.values())
    return f'"use strict";\nconst {name} = (() => {{\nconst modules = {{}};\n{body}\nreturn {{ {named} }};\n}})();\n'


def shared_style() -> str:
    """The look of the table of items and of the player, which stands in an element of the class ``player-room``."""
    colours, items, *player = (
        asset(f"pages/static/{name}.css") for name in ("player/colours", "items/items", "player/basics", "player/player")
    )
    return f"{colours}\n{items}\n.player-room {{\n{''.join(player)}\n}}\n"


def data_uri(data: bytes, media_type: str) -> str:
    """``data`` inside an address."""
    return f"data:{media_type};base64,{base64.b64encode(data).decode()}"


def packed(text: str) -> str:
    """Markup for ``page.unpack``: deflated, in letters that need no escape."""
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def page(
    template: str,
    *,
    title: str,
    links: Sequence[Link] = (),
    styles: Mapping[str, MethodStyle] | None = None,
    scripts: Sequence[str] = (),
    style: Sequence[str] = (),
    rules: str = "",
    data: object = None,
    **parts: Any,
) -> str:
    """A whole page as text, with its style and scripts inside.

    Args:
        template: extends ``pages/templates/base.html``; a path in the package.
        title: of the window.
        links: to the parts of the page, in its bar.
        styles: name of a method -> how it is drawn.
        scripts: paths in the package of more scripts, or whole scripts; they run after ``pages/static/page.js`` in this order.
        style: paths in the package of more stylesheets.
        rules: more of the stylesheet, such as pictures; not escaped, so it never comes from data.
        data: for the scripts, as JSON in the element ``page-data``.
        parts: what else the template takes.
    """
    code = [path if "\n" in path else f'"use strict";\n{asset(path)}' for path in (bundle(_OWN, name="page"), *scripts)]
    digests = (hashlib.sha256(text.encode()).digest() for text in (_MARK, *code))
    hashes = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
    # Only the scripts with these hashes run, and only files in or beside the page are shown.
    policy = (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; "
        "img-src 'self' data: blob: file:; media-src 'self' data: blob: file:; base-uri 'none'; form-action 'none'"
    )
    written: str = _environment().get_template(template).render(
        title=title,
        links=links,
        styles=styles or {},
        mark=Markup(_MARK),
        policy=policy,
        style=Markup("\n".join(asset(path) for path in (*STYLESHEETS, *style)) + rules),
        scripts=[Markup(text) for text in code],
        data=data,
        **parts,
    )  # fmt: skip
    return written
