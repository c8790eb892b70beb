"""Rooms are entered by their façades."""

import ast
from importlib import import_module
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "src/separatrix"
ROOMS = sorted(stub.parent.name for stub in PACKAGE.glob("*/__init__.pyi"))


@pytest.mark.parametrize("room", ROOMS)
def test_a_facade_offers_its_room_and_nothing_else(room):
    facade = import_module(f"separatrix.{room}")
    stub = ast.parse((PACKAGE / room / "__init__.pyi").read_text(encoding="utf-8"))
    listed = [
        (each.module, alias.name) for each in stub.body if isinstance(each, ast.ImportFrom) for alias in each.names
    ]
    assert listed and len({name for _, name in listed}) == len(listed)
    for module, name in listed:
        assert module.startswith(f"separatrix.{room}.")
        assert getattr(facade, name) is getattr(import_module(module), name), "a submodule of that name hides it"
    assert set(facade.__all__) == {name for _, name in listed}
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = facade.no_such_name


def test_no_room_goes_around_the_facade_of_another():
    around: list[str] = []
    for file in PACKAGE.rglob("*.py"):
        inside = file.relative_to(PACKAGE).parts[0]
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            parts = node.module.split(".") if isinstance(node, ast.ImportFrom) and node.module else []
            if len(parts) > 2 and parts[0] == "separatrix" and parts[1] in ROOMS and parts[1] != inside:
                around.append(f"{file.relative_to(PACKAGE)}:{node.lineno}")
    assert not around, "import the name from its room; ROOM/__init__.pyi lists what that offers"
