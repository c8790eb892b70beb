"""The rule for tokens near each other: right networks, planted faults, and its argument by brute force."""

from collections import Counter
from itertools import product
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from separatrix_kernel import windows
from separatrix_kernel.checker import check
from separatrix_kernel.numbers import Numbers
from separatrix_kernel.reading import RefusedError
from separatrix_kernel.windows import Windows
from tests.kernel.files import File, claimed, proved
from tests.kernel.independent import Slow, inputs_of, right_answers, wrong_input
from tests.kernel.mutants import rules_accept

SMALL = ("match3-local", 3, {"modulus": 4, "window": 1})


@pytest.mark.parametrize(
    ("length", "parameters"),
    [(2, {"modulus": 2}), (2, {"modulus": 4, "window": 1}), (3, {"modulus": 4})],
)
@pytest.mark.parametrize("rounding", ["down", "nearest"])
def test_what_is_accepted_is_right_on_every_input(length, parameters, rounding):
    content, data = proved("match3-local", length, parameters, rounding=rounding)
    assert content["proof"]["rule"] == "layers"
    assert wrong_input(content, data) is None


def test_larger_windows_and_lengths_are_accepted():
    for length, parameters in ((12, {"window": 3, "modulus": 40}), (20, {"modulus": 100})):
        content, data = proved("match3-local", length, parameters)
        assert check(content, data).inputs_covered == f"{parameters['modulus']}^{length}"


@pytest.mark.parametrize("change", [{"reach": 0}, {"reach": 2}, {"modulus": 2}, {"modulus": 3}, {"terms": 2}])
def test_the_same_network_for_another_question_is_refused(change):
    content, data = proved(*SMALL)
    content["specification"]["answer"].update(change)
    assert wrong_input(content, data) is not None
    with pytest.raises(RefusedError):
        rules_accept(content, data)


def test_windows_that_reach_everything_are_one_question():
    content, data = proved("match3-local", 3, {"modulus": 3, "window": 2})
    content["specification"]["answer"]["reach"] = 99
    rules_accept(content, data)
    assert wrong_input(content, data) is None


def numbers_of(file: File, *path: Any) -> list[int]:
    """The numbers of a matrix of the structure."""
    found: Any = file.structure
    for each in path:
        found = found[each]
    return file.tensors[found["numerators"]][2]


def shape_of(file: File, *path: Any) -> list[int]:
    """The shape of the same."""
    found: Any = file.structure
    for each in path:
        found = found[each]
    return file.tensors[found["numerators"]][1]


def test_every_unit_of_the_search_that_is_left_out_or_moved_is_noticed():
    """One unit of the search at a time: what is wrong on a single input or more is refused."""
    content, data = proved("match3-local", 3, {"modulus": 2, "window": 1})
    units = shape_of(File(data), "layers", 3, "inner")[0]
    truth = {each: right_answers(content["specification"], each) for each in inputs_of(content["specification"])}
    found = Counter[tuple[bool, bool]]()
    for unit, fault in product(range(units), ("left out", "moved")):
        file = File(data)
        if fault == "moved":
            numbers_of(file, "layers", 3, "inner_bias")[unit] += 1
        else:
            outer = numbers_of(file, "layers", 3, "outer")
            outer[-units + unit] = 0
        changed = file.to_bytes()
        answers = Slow(changed, content["arithmetic"]).everywhere()
        wrong = any(answers(each)[-3:] != right for each, right in truth.items())
        try:
            rules_accept(claimed(content, changed), changed)
            accepted = True
        except RefusedError:
            accepted = False
        found[wrong, accepted] += 1
    assert found[True, True] == 0
    assert found[True, False] > units // 4
    # Bumps at multiples of M that no present numbers reach, and those of a block with itself, may matter to nobody.
    assert sum(found.values()) == 2 * units


def fault(name: str, file: File) -> None:
    """A network that must be refused, for one reason each."""
    layers = file.structure["layers"]
    if name == "mask":
        layers[1]["heads"][0]["mask"] = "causal"
    elif name == "weak query":
        part = next(part for part in file.structure["embedding"] if part["slot"] == "asked")
        part["rule"]["table"]["denominator"] *= 16
    elif name == "query by token":
        query = numbers_of(file, "layers", 1, "heads", 0, "query")
        query[0] = 1
    elif name == "two numbers in one place":
        part = next(part for part in file.structure["embedding"] if part["slot"] == "place")
        file.tensors[part["indices"]][2][:] = [0] * len(file.tensors[part["indices"]][2])
    elif name == "another digit":
        part = next(part for part in file.structure["embedding"] if part["slot"] == "own")
        table = file.tensors[part["rule"]["table"]["numerators"]][2]
        table[1] ^= 1
    elif name == "bits that are lost":
        bias = numbers_of(file, "layers", 2, "inner_bias")
        bias[:] = [4 * each for each in bias]
    elif name == "saturated":
        outer = numbers_of(file, "layers", 3, "outer")
        outer[:] = [each << 40 for each in outer]
    elif name == "halves":
        layers[3]["outer"]["denominator"] = 2
    elif name == "negative":
        outer = numbers_of(file, "layers", 3, "outer")
        outer[:] = [-each for each in outer]
    elif name == "one number of the window is taken away":
        inner = numbers_of(file, "layers", 3, "inner")
        inner[1] = -inner[1]
    elif name == "readout":
        numbers_of(file, "readout", "bias")[0] = 1
    else:
        raise AssertionError(name)


FAULTS = {
    "mask": "leaves out",
    "weak query": "known exactly",
    "query by token": "asks for",
    "two numbers in one place": "mixes two tokens",
    "another digit": "residue",
    "bits that are lost": "add up as many",
    "saturated": "saturated",
    "halves": "whole numbers",
    "negative": "mistakes",
    "one number of the window is taken away": "residue",
    "readout": "without a match",
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_refused_for_its_reason(name):
    content, data = proved(*SMALL)
    file = File(data)
    fault(name, file)
    changed = file.to_bytes()
    with pytest.raises(RefusedError, match=FAULTS[name]):
        rules_accept(claimed(content, changed), changed)


@pytest.mark.parametrize(
    "statements",
    [
        ["windows", "feed-forward", "search", "search"],
        ["feed-forward", "windows", "feed-forward", "feed-forward"],
        ["search", "windows", "feed-forward", "feed-forward"],
        ["feed-forward", "windows", "search", "feed-forward"],
        ["feed-forward", "search", "feed-forward", "feed-forward"],
        ["feed-forward", "match", "feed-forward", "search"],
        ["idle", "windows", "feed-forward", "search"],
        ["feed-forward", "idle", "feed-forward", "search"],
        ["feed-forward", "windows", "feed-forward"],
    ],
)
def test_other_statements_do_not_fit(statements):
    content, data = proved(*SMALL)
    content["proof"]["statements"] = [{"kind": each} for each in statements]
    with pytest.raises(RefusedError):
        check(content, data)


def test_a_search_is_of_no_use_to_other_claims():
    content, data = proved("majority", 3)
    statements = content["proof"]["statements"]
    number = next(n for n, each in enumerate(statements) if each == {"kind": "feed-forward"})
    statements[number] = {"kind": "search"}
    with pytest.raises(RefusedError):
        check(content, data)


def test_windows_of_too_many_numbers_are_refused_before_they_fill_the_memory(monkeypatch):
    content, data = proved(*SMALL)
    monkeypatch.setattr(windows, "MOST_NUMBERS", 500)
    with pytest.raises(RefusedError, match="too many to check"):
        check(content, data)


BUMPS = ((1, -2, 1), (1, -1, 0), (2, -4, 2), (1, 0, -1), (0, 1, 0), (-1, 2, -1), (1, -2, 2))


def forged(bases: list[tuple[dict[str, Any], bytes]], random: Random) -> tuple[dict[str, Any], bytes]:
    """A network and a question that are near to right ones, by changes that keep most of what makes them work."""
    content, data = random.choice(bases)
    file, answer = File(data), dict(content["specification"]["answer"])
    layers, parts = file.structure["layers"], {part["slot"]: part for part in file.structure["embedding"]}
    inner, bias = (numbers_of(file, "layers", 3, name) for name in ("inner", "inner_bias"))
    outer, units = numbers_of(file, "layers", 3, "outer"), len(bias)
    width = len(inner) // units
    for _ in range(random.choice((1, 1, 2, 2, 3))):
        change, bump = random.randrange(14), 3 * random.randrange(units // 3)
        if change == 0:
            answer[random.choice(("reach", "modulus", "terms"))] = random.randint(2, 4)
        elif change == 1:
            shift = random.choice((-1, 1, 2, answer["modulus"], -answer["modulus"]))
            bias[bump : bump + 3] = [each + shift for each in bias[bump : bump + 3]]
        elif change == 2:
            shape = random.choice(BUMPS)
            outer[len(outer) - units + bump : len(outer) - units + bump + 3] = shape
        elif change == 3:
            factor = random.choice((2, 3))
            for unit in range(units) if random.random() < 0.7 else range(bump, bump + 3):
                inner[unit * width : unit * width + width] = [factor * each for each in inner[unit * width :][:width]]
                bias[unit] *= factor
        elif change == 4:
            indices = file.tensors[parts["place"]["indices"]][2]
            indices[random.randrange(len(indices))] = random.randrange(max(indices) + 1)
        elif change == 5:
            _, (rows, columns), table = file.tensors[parts["own"]["rule"]["table"]["numerators"]]
            order = random.sample(range(rows), rows)
            table[:] = [table[row * columns + column] for row in order for column in range(columns)]
        elif change == 6:
            layers[1]["heads"][0]["scoring"] = random.choice(("hard", "leftmost", "relu", "linear"))
        elif change == 7:
            layers[1]["heads"][0]["mask"] = random.choice(("causal", "strict"))
        elif change == 8:
            table = file.tensors[parts["asked"]["rule"]["table"]["numerators"]][2]
            parts["asked"]["rule"]["table"]["denominator"] = random.choice((1 << 18, 1 << 21, 1 << 22, 1 << 24))
            table[random.randrange(len(table))] *= random.choice((1, -1, 0))
        elif change == 9:
            restoring = numbers_of(file, "layers", 2, "inner_bias")
            restoring[random.randrange(len(restoring))] += random.choice((-1, 1))
        elif change == 10:
            file.structure["readout"]["bias"]["denominator"] = 4
            numbers_of(file, "readout", "bias")[0] = random.choice((-4, -3, -2, -1, 1, 2))
        elif change == 11:
            # What is missing counts for less, or for more.
            missing = min(inner)
            factor = random.choice((1, 2, 4))
            inner[:] = [each * factor // 2 if each == missing else each for each in inner]
        elif change == 12:
            source, target = random.randrange(units), random.randrange(units)
            inner[target * width : target * width + width] = inner[source * width : source * width + width]
        else:
            layers[random.randrange(4)]["residual"] = False
    changed = file.to_bytes()
    return claimed(content, changed, specification={**content["specification"], "answer": answer}), changed


def campaign(count: int, seed: int) -> Counter[str]:
    """How many such claims were refused, accepted and right, accepted and wrong."""
    random, found = Random(seed), Counter[str]()
    sizes = ((2, 2, 1), (3, 2, 1), (2, 4, 1), (3, 4, 1), (3, 2, 2))
    bases = [proved("match3-local", n, {"modulus": modulus, "window": window}) for n, modulus, window in sizes]
    for _ in range(count):
        content, data = forged(bases, random)
        try:
            rules_accept(content, data)
        except RefusedError:
            found["refused"] += 1
            continue
        found["right" if wrong_input(content, data) is None else "wrong"] += 1
    return found


def test_networks_that_are_nearly_right_are_refused_or_right():
    found = campaign(150, 1)
    assert not found["wrong"]
    assert min(found["right"], found["refused"]) >= 15, found


def judged(bends: list[tuple[int, int]], const: int, unit: int, terms: int, modulus: int, numbers: Numbers) -> Any:
    """What the rule says about one form that adds up so many numbers; None where it refuses."""
    rule = SimpleNamespace(numbers=numbers, spec=SimpleNamespace(modulus=modulus, terms=terms))
    ends = [const, const + unit * terms * (modulus - 1)]
    try:
        return (Windows._added(rule, tuple(bends), const, unit, ends),)  # type: ignore[arg-type]
    except RefusedError:
        return None


def test_a_form_is_judged_as_all_of_its_sums_are():
    """The few sums that are tried, held to all of them, with the steps of the evaluation."""
    random, seen = Random(5), Counter[str]()
    for _ in range(6000):
        numbers = Numbers(
            f"fixed:N={random.choice((2, 3, 4))},Kc={random.randint(3, 5)},{random.choice(('down', 'nearest'))}"
        )
        scale, modulus, terms = numbers.scale, random.randint(2, 7), random.randint(2, 3)
        unit = random.choice((scale, scale, 2 * scale, scale // 2 + 1, 1))
        const = random.choice((0, -unit, 3 * unit, random.randint(-3 * scale, 3 * scale)))
        bends: list[tuple[int, int]] = []
        for number in range(terms):
            at = -const - number * modulus * unit
            for shift, weight in ((1, 1), (0, -2), (-1, 1)):
                bends.append((at + shift * unit, weight * scale))
        for _ in range(random.choice((0, 0, 1, 1, 2))):
            bias, weight = bends.pop(random.randrange(len(bends)))
            bends.append((bias + random.choice((0, 0, 1, -1, unit)), weight + random.choice((0, 0, 1, scale, -scale))))
        if random.random() < 0.2:
            bends = [(bias - random.choice((1, 8)) * 3 * modulus * unit, weight) for bias, weight in bends]
        found = judged(bends, const, unit, terms, modulus, numbers)
        if found is None:
            seen["refused"] += 1
            continue
        values: dict[bool, set[int]] = {True: set(), False: set()}
        for n in range(terms * (modulus - 1) + 1):
            total = const + unit * n
            hidden = [max(0, numbers.saturate(numbers.saturate(total) + bias)) for bias, _ in bends]
            products = [numbers.product(weight, each) for (_, weight), each in zip(bends, hidden, strict=True)]
            values[n % modulus == 0].add(sum(products))
        assert values[False] == {0}
        assert values[True] == {0} if found == (None,) else found == ((min(values[True]), max(values[True])),)
        assert found == (None,) or min(values[True]) > 0
        seen["nothing" if found == (None,) else "matching"] += 1
    assert min(seen["refused"], seen["nothing"], seen["matching"]) > 100, seen


def test_bumps_that_reach_sums_next_to_a_multiple_are_refused():
    """Parts that are 0 at the neighbours of all multiples of M, and above 0 between two of these."""
    numbers = Numbers("fixed:N=4,Kc=4,down")
    scale = numbers.scale
    for modulus, terms, rest, right in (
        (3, 2, [(0, -2), (-1, 1), (-2, 1), (-3, -2), (-4, 1)], True),
        # 1 at the sum 2.
        (3, 2, [(0, -4), (-0.5, 4), (-3, -3), (-4, 2)], False),
        (4, 2, [(0, -2), (-1, 1), (-3, 1), (-4, -2), (-5, 1)], True),
        # -1 at the sum 2.
        (4, 2, [(0, -2), (-2.5, 4), (-4, -6), (-5, 3)], False),
        (5, 2, [(0, -2), (-1, 1), (-4, 1), (-5, -2), (-6, 1)], True),
        # -1 at the sum 3, which no bend is next to from below; 1 at 2; 1 at 6; and 1 at 4.
        (5, 2, [(0, -2), (-1, 1), (-2, -3), (-2.5, 4), (-5, -2), (-6, 1)], False),
        (5, 2, [(0, -2), (-1, 1), (-1, 3), (-1.5, -4), (-3, 1), (-4, 1), (-5, -2), (-6, 1)], False),
        (5, 2, [(0, -2), (-1, 1), (-4, 5), (-4.5, -6), (-7, 1)], False),
        (5, 2, [(0, -2), (-1, 1), (-2, -1), (-2.5, 2), (-5, -3), (-6, 2)], False),
        # 1 at 4, and 1 at 5, next to the greatest sum of three numbers.
        (9, 2, [(0, -2), (-1, 1), (-3, 3), (-3.5, -4), (-5, 1), (-8, 1), (-9, -2), (-10, 1)], False),
        (3, 3, [(0, -2), (-1, 1), (-2, 1), (-3, -4), (-3.5, 4)], False),
    ):
        bends = [(round(each * scale), weight * scale) for each, weight in ((1, 1), *rest)]
        values = {n: sum(w * max(0, n * scale + b) for b, w in bends) for n in range(terms * (modulus - 1) + 1)}
        assert all(value > 0 for n, value in values.items() if n % modulus == 0)
        assert (not any(value for n, value in values.items() if n % modulus)) == right
        for const in (0, 3 * scale, -2 * scale):
            moved = [(bias - const, weight) for bias, weight in bends]
            assert (judged(moved, const, scale, terms, modulus, numbers) is not None) == right


def test_feed_forwards_before_the_first_attention_are_part_of_the_embedding():
    """Numbers are halved in the table, and doubled by x + ReLU(x)."""
    content, data = proved("index-lookup", 3, {"alphabet": 3})
    for factor, accepted in ((1, True), (-1, False)):
        file = File(data)
        structure = file.structure
        part = next(
            part for part in structure["embedding"] if part["source"] == "token" and part["rule"]["kind"] == "table"
        )
        part["rule"]["table"]["denominator"] *= 2
        sizes = dict(structure["slots"])
        width, names = sum(sizes.values()), list(sizes)
        start = sum(sizes[name] for name in names[: names.index(part["slot"])])
        size = sizes[part["slot"]]
        chosen = [int(column == start + unit) for unit in range(size) for column in range(width)]
        back = [factor * int(row == start + unit) for row in range(width) for unit in range(size)]
        file.tensors["first.inner"] = ("I64", [size, width], chosen)
        file.tensors["first.inner_bias"] = ("I64", [size, 1], [0] * size)
        file.tensors["first.outer"] = ("I64", [width, size], back)
        file.tensors["first.outer_bias"] = ("I64", [width, 1], [0] * width)
        names = ("inner", "inner_bias", "outer", "outer_bias")
        layer = {name: {"numerators": f"first.{name}", "denominator": 1} for name in names}
        structure["layers"].insert(0, {"kind": "feed-forward", "residual": True, **layer})
        changed = file.to_bytes()
        claim = claimed(content, changed)
        claim["proof"]["statements"].insert(0, {"kind": "feed-forward"})
        if accepted:
            rules_accept(claim, changed)
            assert wrong_input(claim, changed) is None
        else:
            with pytest.raises(RefusedError):
                rules_accept(claim, changed)


def test_numbers_may_be_written_by_any_tokens():
    """Tokens 2 to 5 for the numbers 0 to 3 modulo 4, in this order."""
    content, data = proved(*SMALL)
    file = File(data)
    file.structure["vocabulary"] = 6
    for part in file.structure["embedding"]:
        part["tokens"] = [2, 6] if part["source"] == "token" else [0, 6]
        if part["source"] == "token":
            _, (rows, columns), table = file.tensors[part["rule"]["table"]["numerators"]]
            # Rows were those of 1, 2, 3, 4; now they are those of 2, 3, 4 ≡ 0, 5 ≡ 1.
            table[:] = [table[row % rows * columns + column] for row in range(1, rows + 1) for column in range(columns)]
    changed = file.to_bytes()
    claim = claimed(content, changed)
    claim["specification"]["inputs"][1]["tokens"] = [2, 6]
    rules_accept(claim, changed)
    assert wrong_input(claim, changed) is None
    claim["specification"]["inputs"][1]["tokens"] = [2, 5]
    with pytest.raises(RefusedError, match="every residue"):
        rules_accept(claim, changed)


def test_windows_with_more_choices_than_sums_are_refused_at_once():
    content, data = proved(*SMALL)
    file = File(data)
    units = shape_of(file, "layers", 3, "inner")[0]
    outer = numbers_of(file, "layers", 3, "outer")
    # Nine units have the same weights: three for each multiple of M.
    outer[len(outer) - units : len(outer) - units + 9] = [0] * 9
    changed = file.to_bytes()
    with pytest.raises(RefusedError, match="too few different sums"):
        rules_accept(claimed(content, changed), changed)


def test_what_one_coordinate_adds_to_another_is_noticed():
    """ReLU(x - 1) of a window's coordinate, which is above 1 at the query's own place alone, moves a bit of its own."""
    content, data = proved(*SMALL)
    file = File(data)
    slots = file.structure["slots"]
    start = {name: sum(size for _, size in slots[:number]) for number, (name, _) in enumerate(slots)}
    width, layer = sum(size for _, size in slots), file.structure["layers"][2]
    units = shape_of(file, "layers", 2, "inner")[0]
    reads = [int(column == start["window"]) for column in range(width)]
    tensors = {name: file.tensors[layer[name]["numerators"]] for name in ("inner", "inner_bias", "outer")}
    assert all(layer[name]["denominator"] == 1 for name in tensors)
    old = tensors["outer"][2]
    outer = [[*old[row * units : row * units + units], int(row == start["own"] + 1)] for row in range(width)]
    file.tensors[layer["inner"]["numerators"]] = ("I64", [units + 1, width], [*tensors["inner"][2], *reads])
    file.tensors[layer["inner_bias"]["numerators"]] = ("I64", [units + 1, 1], [*tensors["inner_bias"][2], -1])
    file.tensors[layer["outer"]["numerators"]] = ("I64", [width, units + 1], [each for row in outer for each in row])
    changed = file.to_bytes()
    with pytest.raises(RefusedError, match="known exactly"):
        rules_accept(claimed(content, changed), changed)
