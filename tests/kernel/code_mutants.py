"""Faults put into the kernel's own code, one at a time: do its tests notice?

``python -m tests.kernel.code_mutants FILE … [--count 40] [--seed 0]`` names files of the kernel, such as ``content``. A
mutant changes an operator, a comparison, a bound, a rounding or a choice, or leaves out an obligation (``require``).
The tests about the file run against it, in a process that loads the changed kernel, until one fails. What survives is
printed as a line of the source and what became of it: a test should kill it, or a reader explain why it does no harm.
"""

import argparse
import ast
import copy
import os
import random
import resource
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, cast

ROOT = Path(__file__).parent.parent.parent
KERNEL = ROOT / "src" / "separatrix_kernel"
SECONDS, BYTES = 120, 8 << 30
TESTS = {
    "balls": "trained", "lookup": "trained", "trained": "trained", "content": "content powers",
    "matching": "content powers", "powers": "powers", "reading": "reading forgeries schema",
    "network": "reading evaluation forgeries powers", "numbers": "numbers evaluation",
    "evaluation": "evaluation forgeries powers", "specification": "specification forgeries", "floats": "running",
    "running": "running", "prefixes": "prefixes", "thresholds": "thresholds", "words": "words",
    "checker": "reading package forgeries", "__main__": "package trained",
}  # fmt: skip
"""Which tests are about a file; of the others those about rules."""
RULES = "rules forgeries content"
OPERATORS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv,
    ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.Pow: ast.Mult, ast.BitXor: ast.BitOr, ast.BitAnd: ast.BitOr,
}  # fmt: skip
NAMES = {"min": "max", "max": "min", "any": "all", "all": "any"}


class Mutant(NamedTuple):
    """One fault."""

    file: str
    line: int
    words: str
    source: str


def changed(node: ast.AST) -> Iterator[ast.AST]:
    """What may take the place of a node."""
    other = copy.deepcopy(node)
    if isinstance(other, ast.Compare):
        for place, each in enumerate(other.ops):
            swapped = copy.deepcopy(other)
            swapped.ops[place] = cast("ast.cmpop", OPERATORS[type(each)]())
            yield swapped
    elif isinstance(other, ast.BinOp | ast.BoolOp | ast.AugAssign) and type(other.op) in OPERATORS:
        other.op = OPERATORS[type(other.op)]()  # pyright: ignore[reportAttributeAccessIssue]
        yield other
    elif isinstance(other, ast.UnaryOp) and isinstance(other.op, ast.USub | ast.Not):
        yield other.operand
    elif isinstance(other, ast.Constant) and isinstance(other.value, int):
        other.value = not other.value if isinstance(other.value, bool) else other.value + 1
        yield other
    elif isinstance(other, ast.Call) and isinstance(other.func, ast.Name):
        if other.func.id in NAMES:
            other.func.id = NAMES[other.func.id]
            yield other
        elif other.func.id == "require":
            other.args[0] = ast.Constant(True)
            yield other


class _Replacing(ast.NodeTransformer):
    """Puts something in the place of the node with this number."""

    def __init__(self, number: int, new: ast.AST) -> None:
        self.number, self.new, self.at = number, new, -1

    def visit(self, node: ast.AST) -> ast.AST:
        self.at += 1
        return self.new if self.at == self.number else self.generic_visit(node)


def _numbered(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes in the order of ``_Replacing``."""
    yield tree
    for child in ast.iter_child_nodes(tree):
        yield from _numbered(child)


def mutants(name: str) -> list[Mutant]:
    """All faults of a file; annotations and limits of work (in capital letters) are left alone."""
    tree = ast.parse((KERNEL / f"{name}.py").read_text(encoding="utf-8"))
    kept = {
        id(inside)
        for node in ast.walk(tree)
        for field in ("annotation", "returns")
        if isinstance(each := getattr(node, field, None), ast.AST)
        for inside in ast.walk(each)
    }
    for node in tree.body:
        if isinstance(node, ast.Assign):
            kept |= {id(inside) for inside in ast.walk(node)}
    found: list[Mutant] = []
    for number, node in enumerate(_numbered(tree)):
        # Lengths that are compared once more, and a step more or less of a budget, are not faults.
        if isinstance(node, ast.keyword) and node.arg == "strict":
            kept.add(id(node.value))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("spend", "room"):
            kept |= {id(inside) for inside in ast.walk(node)}
        for new in () if id(node) in kept else changed(node):
            words = f"{ast.unparse(node)[:90]}  ->  {ast.unparse(new)[:90]}"
            source = ast.unparse(ast.fix_missing_locations(_Replacing(number, new).visit(copy.deepcopy(tree))))
            found.append(Mutant(name, getattr(node, "lineno", 0), words, source))
    return found


def survives(mutant: Mutant) -> bool:
    """Whether all tests about a file pass with this source in its place; run in a process of its own."""
    child = os.fork()
    if child == 0:
        with tempfile.TemporaryDirectory() as folder:
            code = _tested(mutant, Path(folder))
        os._exit(code)
    return os.waitpid(child, 0)[1] == 0


def _tested(mutant: Mutant, folder: Path) -> int:
    import pytest

    shutil.copytree(KERNEL, folder / "separatrix_kernel", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "separatrix_kernel" / f"{mutant.file}.py").write_text(mutant.source, encoding="utf-8")
    sys.path.insert(0, str(folder))
    sys.dont_write_bytecode = True
    for limit, most in ((resource.RLIMIT_CPU, SECONDS), (resource.RLIMIT_AS, BYTES)):
        resource.setrlimit(limit, (most, most))
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    files = [f"tests/kernel/test_{each}.py" for each in TESTS.get(mutant.file, RULES).split()]
    # Campaigns take most of the time, and most faults are noticed without them.
    for chosen in ("not every_input", "every_input"):
        code = int(pytest.main(["-q", "-x", "-p", "no:cacheprovider", "-n", "0", "-k", chosen, *files]))
        if code not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            return code
    return 0


def main() -> int:
    """Run some mutants, or all."""
    parser = argparse.ArgumentParser(prog="python -m tests.kernel.code_mutants", description=__doc__)
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--count", type=int, help="so many, drawn at random; all if left out")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    found = [each for name in given.files for each in mutants(name)]
    chosen = random.Random(given.seed).sample(found, min(len(found), given.count or len(found)))
    # What all mutants need is loaded once, but nothing that has loaded the kernel.
    import torch  # noqa: F401  # pyright: ignore[reportUnusedImport]

    import separatrix.constructions  # noqa: F401  # pyright: ignore[reportUnusedImport]

    assert not any(module.startswith("separatrix_kernel") for module in sys.modules)
    left = 0
    for number, each in enumerate(chosen, 1):
        if survives(each):
            left += 1
            sys.stdout.write(f"survives: {each.file}.py:{each.line}: {each.words}\n")
        sys.stdout.write(f"{number} of {len(chosen)} ({len(found)} in all), {left} survive\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
