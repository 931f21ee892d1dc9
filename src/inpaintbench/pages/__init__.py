"""Everything that a person looks at is drawn here: one set of templates, one stylesheet, one specification of plots.

Rooms hand over plain data (texts, numbers, ``Table``, charts) and the name of a template of theirs that extends
``pages/templates/base.html``; markup is written in templates alone, and Jinja2 escapes what comes from data.
"""

from __future__ import annotations

from inpaintbench.lazily import names_of_stub

# Names come from where the stub beside this file says, when they are asked for: most commands draw nothing.
__all__ = names_of_stub(__name__, __file__)
