"""Every small change of a Python file that a test should notice, as text edits of the source."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

AROUND = 60
"""Bytes of the line that are shown on both sides of an edit."""


class Mutant(NamedTuple):
    """One edit: the bytes ``[start, end)`` of the file become ``new``."""

    start: int
    end: int
    new: str
    line: int
    kind: str

    def applied(self, source: bytes) -> bytes:
        """The changed file."""
        return source[: self.start] + self.new.encode() + source[self.end :]

    def told(self, source: bytes) -> tuple[str, str]:
        """What stood there and what came in its place, with some of the line around it."""
        begin = max(source.rfind(b"\n", 0, self.start) + 1, self.start - AROUND)
        stop = min(source.find(b"\n", self.end), self.end + AROUND)
        ends = source[begin : self.start].decode(errors="ignore"), source[self.end : stop].decode(errors="ignore")
        was, became = (" ".join(middle.join(ends).split()) for middle in (source[self.start : self.end].decode(), self.new))
        return was, became


Place = tuple[int, int]
"""Line, from 1, and byte in it."""
Edit = tuple[tuple[Place, Place], str, str]
"""From where to where, what stands there then, and what kind of fault that is."""
_COMPARISONS: dict[type[ast.cmpop], tuple[str, ...]] = {
    ast.Lt: ("<=", ">="), ast.LtE: ("<", ">"), ast.Gt: (">=", "<="), ast.GtE: (">", "<"), ast.Eq: ("!=",), ast.NotEq: ("==",),
    ast.Is: ("is not",), ast.IsNot: ("is",), ast.In: ("not in",), ast.NotIn: ("in",),
}  # fmt: skip
_ARITHMETIC: dict[type[ast.operator], str] = {
    ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*", ast.FloorDiv: "/", ast.Mod: "//", ast.Pow: "*", ast.MatMult: "*",
    ast.BitAnd: "|", ast.BitOr: "&", ast.BitXor: "&", ast.LShift: ">>", ast.RShift: "<<",
}  # fmt: skip
_SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
          ast.MatMult: "@", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>"}  # fmt: skip


def mutants(source: bytes) -> list[Mutant]:
    """All of them, in the order of the file.

    Left alone: types, decorators, docstrings, what leaves say of publications, and the words of exceptions.
    """
    text = source.decode()
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found = [
        Mutant(starts[first[0] - 1] + first[1], starts[last[0] - 1] + last[1], new, first[0], kind)
        for node in _live(ast.parse(text))
        for (first, last), new, kind in _edits(node)
    ]
    # Of equal things in a list it is the same which one goes.
    return sorted({one.applied(source): one for one in sorted(found)}.values())


def _live(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes that do something."""
    if "deviations" in map(_name, getattr(node, "targets", [])) or "Deviation" in (
        _name(node),
        _name(getattr(node, "func", None)),
    ):
        return
    yield node
    skipped: list[object] = []
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        skipped = [node.returns, *node.decorator_list]
    elif isinstance(node, ast.ClassDef):
        skipped = [*node.decorator_list, *node.bases]
    elif isinstance(node, ast.AnnAssign | ast.arg):
        skipped = [node.annotation]
    elif isinstance(node, ast.Raise | ast.JoinedStr | ast.Import | ast.ImportFrom):
        skipped = list(ast.iter_child_nodes(node))
    elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Subscript | ast.BinOp) and _is_type(node):
        skipped = [node.value]
    for child in ast.iter_child_nodes(node):
        if child not in skipped:
            yield from _live(child)


def _name(node: ast.AST | None) -> str:
    return getattr(node, "id", "")


def _is_type(node: ast.Assign) -> bool:
    """Whether an alias of a type is assigned: `Image = npt.NDArray[np.uint8]`."""
    name = getattr(node.targets[0], "id", "")
    return name.lstrip("_")[:1].isupper() and not name.isupper() and "[" in ast.unparse(node.value)


def _edits(node: ast.AST) -> Iterator[Edit]:
    if isinstance(node, ast.Call | ast.List | ast.Tuple | ast.Set | ast.Dict):
        yield from _shorter(node)
    elif isinstance(node, ast.expr):
        yield from ((_span(at), new, kind) for at, new, kind in _of_expressions(node))
    elif isinstance(node, ast.stmt):
        yield from ((_span(at), new, kind) for at, new, kind in _of_statements(node))


def _span(node: ast.expr | ast.stmt | ast.keyword, last: ast.expr | None = None) -> tuple[Place, Place]:
    end = last or node
    return (node.lineno, node.col_offset), (end.end_lineno or 0, end.end_col_offset or 0)


def _of_expressions(node: ast.expr) -> Iterator[tuple[ast.expr, str, str]]:
    if isinstance(node, ast.Compare):
        yield from ((node, new, "comparison") for new in _compared(node))
    elif isinstance(node, ast.BinOp) and not any(map(_is_text, (node.left, node.right))):
        left, right = (_part(side) for side in (node.left, node.right))
        yield node, f"({left} {_ARITHMETIC[type(node.op)]} {right})", "arithmetic"
    elif isinstance(node, ast.Constant):
        yield from ((node, new, "constant") for new in _nearby(node.value))
    elif isinstance(node, ast.BoolOp):
        word = " or " if isinstance(node.op, ast.And) else " and "
        yield node, f"({word.join(map(_part, node.values))})", "and/or"
        yield from ((node, _part(one), "and/or") for one in node.values if len(node.values) == 2)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
        yield node, _part(node.operand), "negation"
        if isinstance(node.op, ast.Not) and isinstance(node.operand, ast.Name | ast.Subscript):
            yield node, f"({_part(node.operand)} <= 1)", "one forgiven"  # of a count: none, or one
    elif isinstance(node, ast.IfExp):
        yield node.test, f"(not {_part(node.test)})", "negation"


def _compared(node: ast.Compare) -> Iterator[str]:
    sides = [_part(side) for side in (node.left, *node.comparators)]
    for place, op in enumerate(node.ops):
        for sign in _COMPARISONS[type(op)]:
            signs = [sign if other == place else _sign(kept) for other, kept in enumerate(node.ops)]
            yield "(" + sides[0] + "".join(f" {one} {side}" for one, side in zip(signs, sides[1:], strict=True)) + ")"


def _sign(op: ast.cmpop) -> str:
    return ast.unparse(ast.Compare(ast.Name("a"), [op], [ast.Name("b")]))[2:-2]


def _part(node: ast.expr) -> str:
    return f"({ast.unparse(node)})"


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str | bytes))


def _nearby(value: object) -> list[str]:
    if isinstance(value, bool):
        return [str(not value)]
    if not isinstance(value, int | float):
        return []
    # A third of a level or of a share is often still a plausible one, where one more or one less is absurd.
    return [f"({value + 1!r})", f"({value - 1!r})", *([f"({value!r} / 3)"] if isinstance(value, float) and value else [])]


def _shorter(node: ast.Call | ast.List | ast.Tuple | ast.Set | ast.Dict) -> Iterator[Edit]:
    """The call or list without one of its parts."""
    if isinstance(node, ast.Call):
        places = sorted(_span(one) for one in (*node.args, *node.keywords))
        # Of few arguments by place only the last: without another one most calls cannot be made at all, which says nothing.
        first = len(node.args) - 1 if 0 < len(node.args) < 4 else 0
    elif isinstance(node, ast.Dict):
        places, first = [_span(key or value, value) for key, value in zip(node.keys, node.values, strict=True)], 0
    else:
        stored = isinstance(node, ast.List | ast.Tuple) and isinstance(node.ctx, ast.Store)
        places, first = [_span(one) for one in node.elts], len(node.elts) if stored else 0
    if isinstance(node, ast.Tuple) and len(places) == 2 and not first:
        yield from (((places[0][0], places[1][1]), f"{ast.unparse(kept)},", "left out") for kept in node.elts)
        return
    for at in range(first, len(places) if len(places) > 1 else 0):
        begin, end = places[at]
        yield (begin, places[at + 1][0]) if at + 1 < len(places) else (places[at - 1][1], end), "", "left out"


def _of_statements(node: ast.stmt) -> Iterator[tuple[ast.expr | ast.stmt, str, str]]:
    if isinstance(node, ast.If | ast.While) and not isinstance(node.test, ast.Compare | ast.UnaryOp):  # those have their own
        yield node.test, f"(not {_part(node.test)})", "negation"
    elif isinstance(node, ast.AugAssign):
        yield node, "pass", "statement removed"
        yield node, f"{ast.unparse(node.target)} {_ARITHMETIC[type(node.op)]}= {ast.unparse(node.value)}", "arithmetic"
    elif isinstance(node, ast.Assign) and not isinstance(node.targets[0], ast.Name | ast.Tuple):
        yield node, "pass", "statement removed"  # without a new name's first value the next line fails, which says nothing
    elif (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)) or isinstance(node, ast.Raise):
        yield node, "pass", "statement removed"
    elif isinstance(node, ast.Break):
        yield node, "continue", "statement changed"
    elif isinstance(node, ast.Continue):
        yield node, "break", "statement changed"
    elif isinstance(node, ast.Return) and node.value is not None and ast.unparse(node.value) != "None":
        yield node, "return None", "returns None"
