"""Which files of the kernel one claim relies on: those that ``python -m separatrix_kernel`` loads for its rule."""

import ast
from collections.abc import Mapping
from pathlib import Path
from typing import Any

KERNEL = "separatrix_kernel"
FOLDER = Path(__file__).resolve().parent.parent.parent / KERNEL
RULES = {"enumeration": "rules", "automaton": "rules", "running-sums": "running"}
"""Rules that are in a file of another name."""
TRAINED = ("lookup", "thresholds", "two_layers", "words")


def kernel_files(rule: str) -> dict[str, int]:
    """The files that are loaded for a rule, as the kernel names it, and the lines of each; read off the imports.

    >>> sorted(set(kernel_files("layers, counting")) - set(kernel_files("automaton")))
    ['attention', 'boxes', 'counting', 'embedding', 'layers']
    """
    first, *others = rule.split(", ")
    left = ["__init__", "__main__", "trained" if first in TRAINED else "checker", RULES.get(first, first), *others]
    found: dict[str, int] = {}
    while left:
        name = left.pop()
        if name in found:
            continue
        text = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
        found[name] = len(text.splitlines())
        # Imports within functions and for types alone are not those of a file that is loaded.
        modules = [node.module or "" for node in ast.parse(text).body if isinstance(node, ast.ImportFrom)]
        left += [module.partition(".")[2] for module in modules if module.startswith(f"{KERNEL}.")]
    return dict(sorted(found.items()))


def relied_on(rule: str) -> dict[str, Any]:
    """The same as plain data."""
    files = kernel_files(rule)
    return {"rule": rule, "files": list(files), "lines": sum(files.values())}


def shown_kernel(relied: Mapping[str, Any]) -> str:
    """What a valid verdict of the kernel relies on, for a person; lines are rounded to hundreds.

    >>> shown_kernel({"rule": "automaton", "files": ["rules", "checker"], "lines": 1234})
    '2 files of separatrix_kernel, some 1,200 lines with their proofs (rule: automaton)'
    """
    files, lines = len(relied["files"]), round(relied["lines"], -2)
    return f"{files} files of separatrix_kernel, some {lines:,} lines with their proofs (rule: {relied['rule']})"
