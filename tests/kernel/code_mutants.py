"""Faults put into the kernel's own code, one at a time: do its tests notice?

``python -m tests.kernel.code_mutants [FILE …] [--count 40] [--seed 0]`` names files of the kernel, such as ``content``;
without names, all. A mutant changes an operator, a comparison, a bound, a constant, a rounding or a choice, or leaves
out an obligation or another statement. The tests run once, to see which lines each of them runs. Then a process is
forked for each mutant: it puts the changed code into the loaded kernel and runs the tests that come to the changed
lines, short ones first, until one fails.

A survivor is killed by a new test, or its code is left out, or ``survivors.toml`` says why it does no harm. What is
listed there is not run (with ``--all`` it is). What else survives is printed, and the exit code is 1.
"""

import argparse
import ast
import copy
import functools
import gc
import importlib
import json
import os
import random
import re
import resource
import sys
import time
import tomllib
import types
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, cast

import pytest
from coverage import Coverage

ROOT = Path(__file__).parent.parent.parent
KERNEL = ROOT / "src" / "separatrix_kernel"
RECORD = Path(__file__).with_name("survivors.toml")
BYTES = 8 << 30
OPERATORS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Mod: ast.FloorDiv, ast.LShift: ast.RShift,
    ast.Pow: ast.Mult, ast.BitXor: ast.BitOr, ast.BitAnd: ast.BitOr,
}  # fmt: skip
CHANGED = (
    ast.Compare, ast.BinOp, ast.BoolOp, ast.AugAssign, ast.UnaryOp, ast.Constant, ast.Call, ast.Raise, ast.Expr,
)  # fmt: skip
CLASSES = ("refuses more", "work", "same", "wider", "implied", "words", "search", "apart")
NAMES = {"min": "max", "max": "min", "any": "all", "all": "any"}


class Mutant(NamedTuple):
    """One fault: where it is, and which node of the file's tree becomes what."""

    file: str
    function: str
    node: str
    words: str
    lines: range
    line: str
    number: int
    new: ast.AST

    @property
    def key(self) -> str:
        """Its name in ``survivors.toml``, which moved lines do not change."""
        return f"{self.file}.{self.function} {self.node}: {self.words} @ {self.line}"

    def __str__(self) -> str:
        return f"{self.file}.py:{self.lines.start}: {self.key}"

    @property
    def source(self) -> str:
        """The file with the fault."""
        tree = _Replacing(self.number, self.new).visit(_tree(self.file))
        return ast.unparse(ast.fix_missing_locations(tree))


@functools.cache
def _text(name: str) -> str:
    """The file as it was when it was first asked for, whatever is edited meanwhile."""
    return (KERNEL / f"{name}.py").read_text(encoding="utf-8")


def _tree(name: str) -> ast.Module:
    return ast.parse(_text(name))


LARGER = "|".join(f"{number}  ->  {number + 1}" for number in range(1, 300))


def explained() -> list[tuple[str, str, re.Pattern[str]]]:
    """The entries of the record: their class, the entry, and what it matches.

    ``*`` is any text, and ``n  ->  n + 1`` a number above 0 that becomes one larger.
    """
    found: list[tuple[str, str, re.Pattern[str]]] = []
    for group in tomllib.loads(RECORD.read_text(encoding="utf-8"))["harmless"]:
        for entry in group["mutants"]:
            pattern = ".*".join(map(re.escape, entry.split("*")))
            pattern = pattern.replace(re.escape("n  ->  n + 1"), f"({LARGER})")
            found.append((group["class"], entry, re.compile(f"{pattern}( @ .*)?")))
    return found


def changed(node: ast.AST) -> Iterator[ast.AST]:
    """What may take the place of a node."""
    if not isinstance(node, CHANGED):
        return
    other = copy.deepcopy(node)
    if isinstance(other, ast.Compare):
        for place, each in enumerate(other.ops):
            swapped = copy.deepcopy(other)
            swapped.ops[place] = cast("ast.cmpop", OPERATORS[type(each)]())
            yield swapped
    elif isinstance(other, ast.BinOp) and isinstance(other.op, ast.FloorDiv | ast.RShift):
        # Rounded up in place of down.
        other.left = ast.UnaryOp(ast.USub(), other.left)
        yield ast.UnaryOp(ast.USub(), other)
    elif isinstance(other, ast.BinOp | ast.BoolOp | ast.AugAssign) and type(other.op) in OPERATORS:
        other.op = OPERATORS[type(other.op)]()  # pyright: ignore[reportAttributeAccessIssue]
        yield other
    elif isinstance(other, ast.UnaryOp) and isinstance(other.op, ast.USub | ast.Not):
        yield other.operand
    elif isinstance(other, ast.Constant) and isinstance(other.value, bool):
        yield ast.Constant(not other.value)
    elif isinstance(other, ast.Constant) and isinstance(other.value, int):
        yield from (ast.Constant(each) for each in (other.value - 1, other.value + 1) if each >= 0)
    elif isinstance(other, ast.Call) and isinstance(other.func, ast.Name) and other.func.id in NAMES:
        other.func.id = NAMES[other.func.id]
        yield other
    elif isinstance(other, ast.Raise) or (isinstance(other, ast.Expr) and isinstance(other.value, ast.Call)):
        yield ast.Pass()


class _Replacing(ast.NodeTransformer):
    """Puts something in the place of the node with this number."""

    def __init__(self, number: int, new: ast.AST) -> None:
        self.number, self.new, self.at = number, new, -1

    def visit(self, node: ast.AST) -> ast.AST:
        self.at += 1
        return self.new if self.at == self.number else self.generic_visit(node)


def _numbered(tree: ast.AST, function: str = "") -> Iterator[tuple[ast.AST, str]]:
    """The nodes in the order of ``_Replacing``, each with the class and function that it is in."""
    yield tree, function or "module"
    if isinstance(tree, ast.FunctionDef | ast.ClassDef):
        function = f"{function}.{tree.name}" if function else tree.name
    for child in ast.iter_child_nodes(tree):
        yield from _numbered(child, function)


def mutants(name: str) -> list[Mutant]:
    """All faults of a file; annotations, messages and limits of work are left alone."""
    tree, text = _tree(name), _text(name).splitlines()
    kept = {
        id(inside)
        for node in ast.walk(tree)
        for field in ("annotation", "returns")
        if isinstance(each := getattr(node, field, None), ast.AST)
        for inside in ast.walk(each)
    }
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]).startswith("MOST_"):
            kept |= {id(inside) for inside in ast.walk(node)}
    found: list[Mutant] = []
    for number, (node, function) in enumerate(_numbered(tree)):
        # Lengths that are compared once more, and a step more or less of a budget, are not faults.
        if isinstance(node, ast.keyword) and node.arg == "strict":
            kept.add(id(node.value))
        called = node.func if isinstance(node, ast.Call) else None
        named = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        if isinstance(node, ast.JoinedStr) or named in ("spend", "room", "Budget"):
            kept |= {id(inside) for inside in ast.walk(node)}
        for new in () if id(node) in kept else changed(node):
            words = f"{ast.unparse(node)}  ->  {ast.unparse(new)}"
            first = getattr(node, "lineno", 1)
            lines = range(first, (getattr(node, "end_lineno", 0) or first) + 1)
            rounding = isinstance(node, ast.BinOp) and isinstance(new, ast.UnaryOp)
            kind = "Rounding" if rounding else type(node).__name__
            found.append(Mutant(name, function, kind, words, lines, text[first - 1].strip(), number, new))
    return found


def _functions(space: dict[str, Any], module: str) -> Iterator[tuple[str, types.FunctionType]]:
    """All functions and methods of a module, whatever wraps them."""
    for value in list(space.values()):
        if isinstance(value, type) and value.__module__ == module:
            yield from _functions(dict(vars(value)), module)
        inside = value
        for name in ("fget", "func", "__func__", "__wrapped__"):
            inside = getattr(inside, name, inside)
        if isinstance(inside, types.FunctionType) and inside.__module__ == module:
            yield inside.__qualname__, inside


def put_in(mutant: Mutant) -> None:
    """Give the functions and constants of the loaded kernel what the changed source says."""
    module = importlib.import_module(f"separatrix_kernel.{mutant.file}")
    new = types.ModuleType(module.__name__)
    exec(compile(mutant.source, module.__file__ or "", "exec"), vars(new))
    others = dict(_functions(vars(new), module.__name__))
    for name, function in _functions(vars(module), module.__name__):
        other = others[name]
        function.__code__, function.__defaults__ = other.__code__, other.__defaults__
        function.__kwdefaults__ = other.__kwdefaults__
    for name, value in list(vars(module).items()):
        if isinstance(value, type) and value.__module__ == module.__name__:
            for inside, held in list(vars(value).items()):
                other = vars(vars(new)[name]).get(inside)
                if isinstance(held, int | str) and not inside.startswith("__") and other != held:
                    setattr(value, inside, other)
        if (
            isinstance(value, int | tuple | dict | str | list | frozenset)
            and not name.startswith("__")
            and vars(new)[name] != value
        ):
            for holder in [each for key, each in sys.modules.items() if key.startswith("separatrix_kernel")]:
                if vars(holder).get(name) is value:
                    setattr(holder, name, vars(new)[name])


def _say(words: str) -> None:
    sys.stdout.write(f"{words}\n")
    sys.stdout.flush()


class Attack:
    """A plugin of pytest that runs all tests, and then some of them for each mutant."""

    def __init__(self, chosen: list[Mutant], known: Path | None, seconds: float) -> None:
        self.chosen, self.known, self.seconds = chosen, known, seconds
        self.lines: dict[str, dict[str, list[int]]] = {}
        self.times: dict[str, float] = {}
        self.failed = self.done = False
        self.survivors: list[Mutant] = []

    @pytest.hookimpl
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A test that fails kills the mutant."""
        self.failed = self.failed or report.failed

    @pytest.hookimpl
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """In place of a run of all tests."""
        from hypothesis import Phase, settings

        tests = {item.nodeid: item for item in session.items}
        for item in session.items:
            if found := getattr(getattr(item, "obj", None), "_hypothesis_internal_use_settings", None):
                quick = settings(found, phases=(Phase.explicit, Phase.generate), report_multiple_bugs=False)
                item.obj._hypothesis_internal_use_settings = quick  # pyright: ignore[reportAttributeAccessIssue]
        if self.known and self.known.exists():
            self.lines, self.times = json.loads(self.known.read_text(encoding="utf-8"))
        # All run, also those whose lines are known: models are trained once for all mutants.
        self._look(session.items, {name for name in tests if name not in self.times})
        if self.known:
            self.known.write_text(json.dumps([self.lines, self.times]), encoding="utf-8")
        by_line: dict[tuple[str, int], set[str]] = defaultdict(set)
        by_file: dict[str, set[str]] = defaultdict(set)
        for name, files in self.lines.items():
            for file, lines in files.items():
                for line in lines if name in tests else ():
                    by_line[file, line].add(name)
                    by_file[file].add(name)
        # What trained models are like does not depend on the kernel; all else that is kept may. What was frozen is
        # not among all objects, so that modules are gone through as well.
        known = [value for name, each in [*sys.modules.items()] if "kernel" in name for value in vars(each).values()]
        for each in (*gc.get_objects(), *known):
            if isinstance(each, functools._lru_cache_wrapper) and getattr(each, "__name__", "") != "trained":
                each.cache_clear()
        gc.collect()
        gc.freeze()
        killers: dict[str, list[str]] = defaultdict(list)
        started = time.perf_counter()
        for number, mutant in enumerate(self.chosen, 1):
            # Lines that are run by an import alone may matter to all tests of the file.
            about = set[str]().union(*(by_line[mutant.file, line] for line in mutant.lines)) or by_file[mutant.file]
            before = killers[mutant.file]
            late = {name: self._late(name, mutant.file) / (1 + 9 * before[-20:].count(name)) for name in about}
            order = sorted(about, key=lambda name: late[name])
            killer = self._one(mutant, [tests[name] for name in order])
            if killer is None:
                self.survivors.append(mutant)
                _say(f"survives {len(about)} tests: {mutant}")
            elif killer in tests:
                before.append(killer)
            if number % 50 == 0 or number == len(self.chosen):
                spent = time.perf_counter() - started
                _say(f"{number} of {len(self.chosen)}, {len(self.survivors)} survive, {spent:.0f} s")
        self.done = True
        return True

    def _late(self, name: str, file: str) -> float:
        """How long a test takes, and more if it runs mostly other files."""
        lines = self.lines[name]
        return (0.01 + self.times[name]) * sum(map(len, lines.values())) / len(lines[file])

    def _look(self, items: list[pytest.Item], new: set[str]) -> None:
        """Which lines each new test runs, and how long it takes."""
        measure = Coverage(data_file=None, source=[str(KERNEL)])
        for number, item in enumerate(items):
            if item.nodeid in new:
                measure.start()
                measure.switch_context(item.nodeid)
            started = time.process_time()
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=(*items, None)[number + 1])
            if item.nodeid in new:
                measure.stop()
                self.times[item.nodeid] = time.process_time() - started
        if self.failed:
            raise SystemExit("the tests fail without a mutant")
        if not new:
            return
        data = measure.get_data()
        for name in new:
            data.set_query_context(name)
            self.lines[name] = {Path(file).stem: data.lines(file) or [] for file in data.measured_files()}

    def _one(self, mutant: Mutant, items: list[pytest.Item]) -> str | None:
        """The test that kills a mutant, or what else did; None if all pass, or all for which there is time."""
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            code = 1
            try:
                nowhere = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, 1)
                os.dup2(nowhere, 2)
                resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
                put_in(mutant)
                left = self.seconds
                for item in items:
                    left -= self.times[item.nodeid]
                    if left < 0:
                        continue
                    # A loop without an end is one in the test that comes to it.
                    limit = int(time.process_time() + 10 * self.times[item.nodeid]) + 5
                    resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))
                    item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
                    if self.failed:
                        os.write(writing, b"\n" + item.nodeid.encode())
                        os._exit(1)
                code = 0
            finally:
                os._exit(code)
        os.close(writing)
        with os.fdopen(reading) as pipe:
            said = pipe.read().split("\n")
        _, status, _ = os.wait4(child, 0)
        if len(said) == 1 and status:
            _say(f"ends without a test: {mutant}")
        return None if status == 0 else said[-1]


def main() -> int:
    """Run some mutants, or all."""
    parser = argparse.ArgumentParser(prog="python -m tests.kernel.code_mutants", description=__doc__)
    parser.add_argument("files", nargs="*", metavar="FILE")
    parser.add_argument("--count", type=int, help="so many, drawn at random; all if left out")
    parser.add_argument("--only", nargs="+", default=[], help="kinds of nodes, such as Compare, Expr and Raise")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=60, help="of tests for one mutant")
    parser.add_argument("--known", type=Path, help="keep which test runs which lines in this file, and use it")
    parser.add_argument("--again", type=Path, help="only those that this file, an earlier output, lists as survivors")
    parser.add_argument("--tests", nargs="+", default=["tests/kernel"], help="files of tests; all of the kernel's")
    parser.add_argument("--all", action="store_true", help="also those that survivors.toml explains")
    given = parser.parse_args()
    names = given.files or sorted(each.stem for each in KERNEL.glob("*.py"))
    found = [each for name in names for each in mutants(name) if each.node in (given.only or each.node)]
    record = explained()
    known = {each.key for each in found if any(pattern.fullmatch(each.key) for *_, pattern in record)}
    if given.again:
        left = set(given.again.read_text(encoding="utf-8").splitlines())
        found = [each for each in found if f"survives: {each}" in left]
    some = [each for each in found if given.all or each.key not in known]
    # In the order of the files, what killed the mutant before is likely to kill the next one.
    chosen = random.Random(given.seed).sample(some, min(len(some), given.count)) if given.count else some
    attack = Attack(chosen, given.known, given.seconds)
    pytest.main(["-q", "-s", "-p", "no:cacheprovider", "-p", "no:xdist", *given.tests], plugins=[attack])
    if not attack.done:
        return 1
    left = [each for each in attack.survivors if each.key not in known]
    counts = f"{len(chosen)} run, {len(chosen) - len(attack.survivors)} killed, {len(attack.survivors)} survive"
    _say(f"{len(found)} mutants, {sum(each.key in known for each in found)} explained; {counts}")
    for each in sorted(left, key=lambda each: (each.file, each.lines.start)):
        _say(f"survives: {each}")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
