"""What has to be trusted for a certificate is small: for every method, counted over the import graph."""

import importlib

import pytest
from tools.trusted_code import CERTIFICATES, LARGEST, closure, code_lines, imports, is_trusted, module_file, modules_of

from separatrix.certificates import methods

NAMES = sorted(name for name, method in methods().items() if method.trust == "wide")


@pytest.mark.parametrize("name", NAMES)
def test_a_method_and_all_it_imports_stay_below_the_limit(name):
    trusted = closure(modules_of(name))
    assert f"{CERTIFICATES}.checker" in trusted
    lines = {module: code_lines(module_file(module)) for module in trusted}
    assert sum(lines.values()) < LARGEST, lines


@pytest.mark.parametrize("name", NAMES)
def test_a_method_trusts_no_search(name):
    """Searches may import methods; nothing that proves imports a search, but the checker, which runs what they find."""
    for module in closure(modules_of(name)):
        searching = [each for each in imports(module) if not is_trusted(each)]
        if module.endswith((".checker", CERTIFICATES)):
            assert set(searching) <= {f"{CERTIFICATES}.refutations"}
        else:
            assert searching == [], module


def test_the_import_graph_is_the_real_one():
    """Every module of the room that a method has loaded is in its closure as computed from the source."""
    for name in NAMES:
        module = importlib.import_module(type(methods()[name]).__module__)
        named = {
            value.__module__
            for value in vars(module).values()
            if getattr(value, "__module__", "").startswith(CERTIFICATES)
        }
        assert named <= closure(modules_of(name)), name


def test_code_lines_leave_out_what_is_not_code(tmp_path):
    file = tmp_path / "module.py"
    file.write_text(
        '"""Text\nof two lines."""\n\n# why\nx = (\n    1\n)\n\n\ndef f():\n    """Text."""\n    return x\n'
    )
    assert code_lines(file) == 5
