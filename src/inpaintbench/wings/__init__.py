"""Wings: what one paper or one kind of user needs, a folder each, joined to the rest by the ``JOINS`` of its ``__init__``."""
