"""The record of harmless mutants is about code that is there."""

from tests.kernel.code_mutants import CLASSES, KERNEL, explained, mutants


def test_each_entry_names_a_class_and_mutants_that_there_are():
    keys = [each.key for path in sorted(KERNEL.glob("*.py")) for each in mutants(path.stem)]
    for name, entry, pattern in explained():
        assert name in CLASSES
        assert any(map(pattern.fullmatch, keys)), f"no mutant is called {entry}"


def test_each_mutant_is_the_file_with_another_change():
    found = mutants("embedding")
    sources = {each.source for each in found}
    assert len(sources) == len(found)
    for each in sources:
        compile(each, "embedding.py", "exec")
