"""How much code has to be trusted for a certificate: tables of docs/constructions.md and docs/kernel.md.

For each method these are the checker, what a claim and a verdict are, the method's own file and every file of the room
``certificates`` that these import, directly or not; read off the source. Left out is the search for counterexamples
(``refutations/``): what it finds is run before it is reported, and it cannot make a claim valid. The arithmetic, the
networks' evaluation and the tasks are trusted as well; they say what a claim means.
"""

import ast
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from separatrix.certificates import Claim, check, methods
from separatrix.certificates.kernel_files import kernel_files
from separatrix.constructions import Built, Construction, constructions
from separatrix.errors import SeparatrixError
from separatrix.provers import prove

SOURCE = Path(__file__).resolve().parent.parent / "src"
KERNEL_FOLDER = SOURCE / "separatrix_kernel"
CERTIFICATES = "separatrix.certificates"
LARGEST = 700
LONGEST_SMALL = 40
OTHER_CLAIMS = {
    "enumeration": "at most 65,536 inputs, of any network",
    "lookup": "trained: lookups of one layer",
    "two_layers": "trained: lookups and recall with two layers",
    "thresholds": "trained: counts of conditions",
    "words": "trained: words, by RNN, GRU and LSTM",
    "words, selective": "trained: words, by Mamba",
}


def module_file(module: str) -> Path:
    """The file of a module or package."""
    plain = SOURCE.joinpath(*module.split(".")).with_suffix(".py")
    return plain if plain.exists() else SOURCE.joinpath(*module.split("."), "__init__.py")


def is_trusted(module: str) -> bool:
    """Whether a module is not a search for counterexamples."""
    return not module.startswith(f"{CERTIFICATES}.refutations")


def imports(module: str) -> set[str]:
    """The modules of the room that a module names in its imports, wherever they are in the file."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(module_file(module).read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            names = [node.module, *[f"{node.module}.{alias.name}" for alias in node.names]]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        found |= {name for name in names if name.startswith(CERTIFICATES) and module_file(name).exists()}
    return found


def closure(modules: Iterable[str]) -> set[str]:
    """All modules that some need, without searches; a package's own file counts with its modules."""
    reached: set[str] = set()
    left = set(modules)
    while left:
        module = left.pop()
        if module in reached or not is_trusted(module):
            continue
        reached.add(module)
        left |= imports(module)
        if module != CERTIFICATES:
            left.add(module.rpartition(".")[0])
    return reached


def modules_of(method: str) -> list[str]:
    """Where the trust in a method's certificates begins."""
    return [f"{CERTIFICATES}.checker", type(methods()[method]).__module__]


def code_lines(file: Path) -> int:
    """Lines that are neither blank nor only a comment or a docstring."""
    text = file.read_text(encoding="utf-8")
    left_out: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            left_out |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines = enumerate(text.splitlines(), start=1)
    return sum(bool(line.strip()) and not line.lstrip().startswith("#") and n not in left_out for n, line in lines)


def used_by() -> dict[str, list[str]]:
    """The constructions whose certificates each method gives, at a small length of each."""
    found: dict[str, list[str]] = {name: [] for name in methods()}
    for name, construction in constructions().items():
        built = smallest(construction, 8)
        verdict = check(built.network, Claim(built.task, built.length, built.arithmetic))
        found[verdict.method].append(name)
    return found


def smallest(construction: Construction, length: int) -> Built:
    """The network of the least length from this one on that the construction has."""
    while True:
        try:
            return construction.build(max(length, construction.minimum_length))
        except SeparatrixError:
            length += 1
            if length > LONGEST_SMALL:
                raise


def table() -> str:
    """The table in Markdown."""
    others = "none with its own options", "all, at small lengths"
    rows = ["| method | constructions | files | lines of code | all lines |", "|---|---|---:|---:|---:|"]
    for method, names in used_by().items():
        if methods()[method].trust == "kernel":
            # What it relies on is counted in docs/kernel.md.
            continue
        files = [module_file(module) for module in closure(modules_of(method))]
        code = sum(code_lines(file) for file in files)
        every = sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files)
        rows.append(
            f"| {method} | {', '.join(names) or others[method == 'enumeration']} | {len(files)} | {code} | {every} |"
        )
    return "\n".join(rows)


def kernel_lines() -> dict[str, tuple[int, int]]:
    """Lines of code and all lines of every file of the kernel: nothing else of the project runs when it decides."""
    files = sorted(KERNEL_FOLDER.glob("*.py"))
    return {file.name: (code_lines(file), len(file.read_text(encoding="utf-8").splitlines())) for file in files}


def content(name: str) -> str:
    """The first sentence of a kernel file's docstring, or what is before its colon."""
    text = ast.get_docstring(ast.parse((KERNEL_FOLDER / name).read_text(encoding="utf-8"))) or ""
    return re.split(r"[:.](?:\s|$)", " ".join(text.split()), maxsplit=1)[0].replace("``", "`")


def kernel_table() -> str:
    """The table of the kernel's files in Markdown."""
    found = kernel_lines()
    rows = ["| file of the kernel | content | lines of code | all lines |", "|---|---|---:|---:|"]
    rows += [f"| `{name}` | {content(name)} | {code} | {every} |" for name, (code, every) in found.items()]
    code, every = (sum(each[side] for each in found.values()) for side in (0, 1))
    return "\n".join([*rows, f"| all | | {code:,} | {every:,} |"])


@cache
def kernel_rules() -> dict[str, str]:
    """The rules by which the kernel decides, each with the constructions or the claims that it is for."""
    found: dict[str, list[str]] = {}
    for name, construction in constructions().items():
        built = smallest(construction, 2)
        proof = prove(built.network, built.task, built.length, built.arithmetic)
        if proof is not None:
            found.setdefault(proof.accepted.rules, []).append(name)
    return {**{rule: ", ".join(names) for rule, names in sorted(found.items())}, **OTHER_CLAIMS}


def claims_table() -> str:
    """The table of what each kind of claim relies on, in Markdown."""
    rows = [
        "| claims about | files | which, with the common ones | lines of code | all lines |",
        "|---|---:|---|---:|---:|",
    ]
    always = set[str].intersection(*(set(kernel_files(rule)) for rule in kernel_rules()))
    for rule, about in kernel_rules().items():
        files = kernel_files(rule)
        code = sum(code_lines(KERNEL_FOLDER / f"{name}.py") for name in files)
        own = ", ".join(name for name in files if name not in always)
        rows.append(f"| {about} | {len(files)} | {own} | {code:,} | {sum(files.values()):,} |")
    rows.append(
        f"| all: the common ones | {len(always)} | {', '.join(f'`{name}.py`' for name in sorted(always))} | | |"
    )
    return "\n".join(rows)
