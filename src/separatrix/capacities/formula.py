"""The formulas of the table of families: arithmetic on the fields of a config file.

    layers × 2 × groups × head width      is written      num_hidden_layers * 2 * num_key_value_heads * head_dim

A formula is an expression in Python's spelling of whole numbers, fractions, texts, lists, field names, ``+ - * // %``,
comparisons, ``and or not``, ``a if b else c``, ``[… for i in range(n)]``, ``x[i]`` and the functions of ``FUNCTIONS``.
``a / b`` and ``whole(a)`` must come out whole, as hidden_size / num_attention_heads must. Nothing else is accepted, so
that a table can compute sizes and do nothing more. ``words`` writes a formula with numbers in place of names, to be
checked by people.
"""

import ast
import operator
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from math import ceil
from typing import Any, TypeAlias, cast

from separatrix.errors import SeparatrixError

Value: TypeAlias = Any
"""A whole number, a fraction, a text, a truth value, None, or a list of them."""
Lookup: TypeAlias = Callable[[str], Value]

LONGEST_LIST = 10**5

FUNCTIONS: Mapping[str, Callable[..., Value]] = {"min": min, "max": max, "len": len, "ceil": ceil, "sum": sum}
BINARY: Mapping[type[ast.operator], Callable[[Value, Value], Value]] = {
    ast.Add: lambda left, right: left + right,
    ast.Sub: lambda left, right: left - right,
    ast.Mult: lambda left, right: left * right,
    ast.FloorDiv: lambda left, right: left // right,
    ast.Mod: lambda left, right: left % right,
}
COMPARED: Mapping[type[ast.cmpop], Callable[[Value, Value], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda left, right: left in right,
    ast.NotIn: lambda left, right: left not in right,
    ast.Is: lambda left, right: left is right,
    ast.IsNot: lambda left, right: left is not right,
}


@cache
def parsed(text: str) -> ast.expr:
    """A formula as a tree; one that the table may not hold is refused."""
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except SyntaxError:
        raise SeparatrixError(f"the formula {text!r} cannot be read; write it as an expression of Python") from None
    for node in ast.walk(tree):
        if not isinstance(node, ACCEPTED):
            raise SeparatrixError(f"the formula {text!r} has {type(node).__name__}, which is not arithmetic")
    return tree


ACCEPTED = (
    ast.Constant, ast.Name, ast.Load, ast.Store, ast.BinOp, ast.UnaryOp, ast.USub, ast.Not, ast.BoolOp, ast.And, ast.Or,
    ast.Compare, ast.IfExp, ast.Call, ast.List, ast.ListComp, ast.comprehension, ast.Subscript, ast.Slice, ast.Div,
    *BINARY, *COMPARED,
)  # fmt: skip


@cache
def names(text: str) -> tuple[str, ...]:
    """The fields that a formula reads, in order; the variable of a list is none.

    >>> names("2 * hidden_size // heads + len([i for i in range(depth)])")
    ('hidden_size', 'heads', 'depth')
    """
    tree = parsed(text)
    bound = {
        each.target.id for node in ast.walk(tree) if isinstance(node, ast.ListComp)
        for each in node.generators if isinstance(each.target, ast.Name)
    }  # fmt: skip
    called = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    found = (node for node in _in_order(tree) if isinstance(node, ast.Name) and node.id not in bound | called)
    return tuple(dict.fromkeys(node.id for node in found))


def _in_order(tree: ast.AST) -> Iterator[ast.AST]:
    yield tree
    for child in ast.iter_child_nodes(tree):
        yield from _in_order(child)


def value(text: str, lookup: Lookup) -> Value:
    """What a formula comes to; ``lookup`` gives the value of a field.

    >>> value("hidden_size / heads * 2", {"hidden_size": 768, "heads": 12}.__getitem__)
    128
    >>> value("['a' if i % 2 else 'b' for i in range(n)]", {"n": 3}.__getitem__)
    ['b', 'a', 'b']
    """
    try:
        return _value(parsed(text), lookup)
    except SeparatrixError:
        raise
    except (TypeError, IndexError, ValueError, OverflowError):
        shown = ", ".join(f"{name} is {str(lookup(name))[:40]}" for name in names(text))
        raise SeparatrixError(f"these do not go together: {shown[:200]}; correct one of them") from None


def _value(node: ast.expr, lookup: Lookup) -> Value:
    match node:
        case ast.Constant():
            return node.value
        case ast.Name():
            return lookup(node.id)
        case ast.BinOp(op=ast.Div()):
            return _share(node, lookup)
        case ast.BinOp():
            left, right = _value(node.left, lookup), _value(node.right, lookup)
            if isinstance(node.op, ast.FloorDiv | ast.Mod) and right == 0:
                raise SeparatrixError(f"{_spelled(node.right)} is 0; it must be at least 1")
            return BINARY[type(node.op)](left, right)
        case ast.UnaryOp():
            inner = _value(node.operand, lookup)
            return not inner if isinstance(node.op, ast.Not) else -inner
        case ast.BoolOp():
            result: Value = None
            for each in node.values:
                result = _value(each, lookup)
                if bool(result) == isinstance(node.op, ast.Or):
                    return result
            return result
        case ast.Compare():
            left = _value(node.left, lookup)
            for sign, each in zip(node.ops, node.comparators, strict=True):
                right = _value(each, lookup)
                if not COMPARED[type(sign)](left, right):
                    return False
                left = right
            return True
        case ast.IfExp():
            return _value(node.body if _value(node.test, lookup) else node.orelse, lookup)
        case ast.List():
            return [_value(each, lookup) for each in node.elts]
        case ast.ListComp():
            return _listed(node, lookup)
        case ast.Subscript(slice=ast.Slice() as part):
            lower, upper = (None if each is None else _value(each, lookup) for each in (part.lower, part.upper))
            return _value(node.value, lookup)[lower:upper]
        case ast.Subscript():
            return _value(node.value, lookup)[_value(node.slice, lookup)]
        case ast.Call(func=ast.Name(id="whole")):
            return whole(ast.unparse(node.args[0]), _value(node.args[0], lookup))
        case ast.Call(func=ast.Name(id=name)) if name in FUNCTIONS:
            return FUNCTIONS[name](*(_value(each, lookup) for each in node.args))
        case _:
            raise SeparatrixError(f"the formula {ast.unparse(node)!r} cannot be computed")


def _share(node: ast.BinOp, lookup: Lookup) -> int:
    total, parts = _value(node.left, lookup), _value(node.right, lookup)
    if not parts or total % parts:
        raise SeparatrixError(f"{_spelled(node)} is {total}/{parts}, which is not whole; correct one of them")
    return total // parts


def _listed(node: ast.ListComp, lookup: Lookup) -> list[Value]:
    (part,) = node.generators
    over = part.iter
    if not (isinstance(over, ast.Call) and isinstance(over.func, ast.Name) and over.func.id == "range"):
        items: list[Value] = _value(over, lookup)
    else:
        bounds = [int(_value(each, lookup)) for each in over.args]
        if len(range(*bounds)) > LONGEST_LIST:
            raise SeparatrixError(f"{_spelled(over.args[-1])} is {bounds[-1]}; at most {LONGEST_LIST} layers are read")
        items = list(range(*bounds))
    name = cast("ast.Name", part.target).id

    def inside(item: Value) -> Lookup:
        return lambda asked: item if asked == name else lookup(asked)

    return [
        _value(node.elt, inside(item)) for item in items if all(_value(test, inside(item)) for test in part.ifs)
    ]  # fmt: skip


def _spelled(node: ast.expr) -> str:
    return ast.unparse(node).replace("*", "×")


def words(text: str, lookup: Lookup) -> str:
    """A product with its numbers in place of its names, as people write it.

    >>> words("2 * groups * (window - 1)", {"groups": 8, "window": 5}.__getitem__)
    '2 × 8 × 4'
    """
    return _words(parsed(text), lookup)


def _words(node: ast.expr, lookup: Lookup) -> str:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return f"{_words(node.left, lookup)} × {_words(node.right, lookup)}"
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and _has_product(node):
        return f"{_words(node.left, lookup)} + {_words(node.right, lookup)}"
    return str(whole(ast.unparse(node), _value(node, lookup)))


def _has_product(node: ast.expr) -> bool:
    return any(isinstance(each, ast.BinOp) and isinstance(each.op, ast.Mult) for each in ast.walk(node))


def whole(what: str, given: float) -> int:
    """A product that must come out whole, such as expand × hidden_size.

    >>> whole("expand * hidden_size", 1.5 * 512)
    768
    """
    if given != int(given) or given < 0:
        raise SeparatrixError(f"{what.replace('*', '×')} is {given}; it must be a whole number")
    return int(given)
