"""Lengths that were run are counted, and about others nothing is said: a law that a few lengths suggest may be false.

The first four functions are ones whose first lengths suggest a law that later lengths break.
"""

from dataclasses import fields, replace
from fractions import Fraction
from math import isqrt

import pytest

from separatrix.answer import plain
from separatrix.bounds import FIXED, numbers_named
from separatrix.capacities import capacity, describe
from separatrix.profiles import Profile, ProfileOptions, profile, profile_record
from separatrix.profiles.alphabet import Alphabet
from separatrix.profiles.excluded import exclusion
from separatrix.profiles.partitions import MOST_VALUES


def number(x):
    return int("".join(map(str, x)), 2) if x else 0


def index(x):
    """Data, then an address as long as fits: 2^a symbols are data that matter, so the state has 2^a bits."""
    address = max(bits for bits in range(len(x)) if 2**bits + bits <= len(x)) if len(x) > 1 else 0
    return x[number(x[len(x) - address :])]


def first_root(x):
    """Equality of the two halves of the first √N symbols."""
    half = isqrt(len(x)) // 2
    return x[:half] == x[half : 2 * half]


def contains(x):
    return "0110110" in "".join(map(str, x))


def record_of(function, length):
    found = profile("f", function, length)
    record = plain(profile_record(found))
    assert record["lengths"][-1]["length"] == length
    return found, record


@pytest.mark.parametrize(
    ("function", "length", "state_bits", "later"),
    [
        (index, 10, 4, (11, 8)),  # 2^3 data bits from N = 11 on, and 65,536 of them at 131,072
        (first_root, 15, 1, (16, 2)),  # two symbols are compared with two from N = 16 on
    ],
)
def test_state_that_seems_to_rest_and_does_not(function, length, state_bits, later):
    found, record = record_of(function, length)
    assert [each.state_bits for each in found.lengths[-4:]] == [state_bits] * 4
    longer, needs = later
    assert profile("f", function, longer).residuals.minimum_state_bits == needs
    tiny = capacity(describe({"model_type": "gru", "hidden_size": 1}), precision=state_bits)
    told = exclusion(found, tiny)
    assert (told.first, told.needs, told.run[-1]) == (None, None, length)
    assert exclusion(profile("f", function, longer), tiny).first == longer
    assert not {"growth", "extrapolation"} & record.keys()


def test_communication_that_seems_logarithmic_and_is_linear():
    """Disjointness hides in "contains 0110110": at these lengths only a few bits are seen, and only they are said."""
    found, record = record_of(contains, 12)
    seen = [each.communication_bits for each in found.lengths]
    assert max(bits or 0 for bits in seen) <= 5
    assert [each["communication_bits"] for each in record["lengths"]] == seen
    assert found.automaton is not None and not found.automaton.exact  # it has 8 states, of which 12 symbols show 7


def test_the_number_of_values_that_are_looked_at_is_marked_as_a_limit():
    found = profile("number", number, 10)
    limited = {each.length: each.limited for each in found.lengths}
    assert limited == {length: 2**length > MOST_VALUES for length in range(1, 11)}
    # The rectangles stay where the values are grouped, the classes do not.
    assert [each.rectangles for each in found.lengths[-3:]] == [MOST_VALUES] * 3
    assert [each.classes for each in found.lengths[-3:]] == [256, 512, 1024]


def test_a_model_is_not_excluded_at_lengths_that_were_not_run():
    """Up to N = 13 this needs a bit more at every other length, and 26 bits are enough at every length."""

    def capped(x):
        half = min(len(x) // 2, 26)
        return x[:half] == x[half : 2 * half]

    small = capacity(describe({"model_type": "gru", "hidden_size": 1}), precision=26)
    told = exclusion(profile("capped", capped, 12), small)
    assert (told.quantity, told.first, told.run) == ("state bits", None, tuple(range(1, 13)))


def test_ratios_are_to_the_most_at_any_shorter_length():
    found = profile("equal", lambda x: len(x) % 2 == 0 and x[: len(x) // 2] == x[len(x) // 2 :], 8)
    assert [each.classes for each in found.lengths] == [1, 2, 1, 4, 1, 8, 1, 16]
    ratios = found.ratios(lambda each: each.classes)
    assert ratios == {
        2: 2, 3: Fraction(1, 2), 4: 2, 5: Fraction(1, 4), 6: 2, 7: Fraction(1, 8), 8: 2,
    }  # fmt: skip
    only = profile("parity", lambda x: sum(x) % 2, 6, options=ProfileOptions(partitions=("0,3",)))
    assert only.ratios(lambda each: each.rectangles) == {}


def test_a_profile_has_no_place_for_a_law():
    assert not [each.name for each in fields(Profile) if "growth" in each.name or "extrapol" in each.name]


def test_a_stack_of_windows_is_held_against_its_reach_at_the_lengths_that_were_run():
    def windows(count):
        layers = [{"kind": "local-attention", "heads": 8, "head_width": 64, "window": 4, "count": count}]
        return capacity(describe({"model_type": "layers", "layers": layers}), only=())

    ends = profile("ends", lambda x: x[0] == x[-1], 8)
    assert exclusion(ends, windows(3)).first is None
    told = exclusion(ends, windows(1))
    assert (told.first, told.needs, told.has, told.quantity) == (6, 5, 4, "positions back")
    assert exclusion(profile("second", lambda x: x[1:2] == x[-1:], 8), windows(1)).first == 7
    assert exclusion(profile("last", lambda x: x[-1], 8), windows(1)).first is None
    assert exclusion(profile("none", lambda x: 0, 8), windows(1)).first is None


@pytest.mark.parametrize(
    ("function", "symbols", "needs"),
    [
        (lambda x: x[-1], 8, 0),  # a layer that adds its input to its output needs no state for this
        (lambda x: (sum(x[:-1]) % 2) * 4 + x[-1], 4, 1),
        (lambda x: x[0] * 5 + x[-1], 5, 3),
        (lambda x: sum(x), 2, 2),
    ],
    ids=["last", "parity and last", "ends", "sum"],
)
def test_the_last_symbol_need_not_be_handed_on(function, symbols, needs):
    found = profile("f", function, 4, Alphabet(symbols))
    layers = [{"kind": "recurrent", "state_numbers": max(needs, 1)}]
    enough = capacity(describe({"model_type": "layers", "layers": layers}), precision=1, only=())
    assert found.lengths[-1].handed_on == needs < found.lengths[-1].state_bits
    assert exclusion(found, enough).first is None
    if needs > 1:
        fewer = [{"kind": "recurrent", "state_numbers": needs - 1}]
        told = exclusion(found, capacity(describe({"model_type": "layers", "layers": fewer}), precision=1, only=()))
        assert (told.needs, told.quantity) == (needs, "state bits")


def test_of_two_bounds_the_one_that_excludes_at_the_shorter_length_speaks():
    halves = profile("halves", lambda x: x[: len(x) // 2] == x[len(x) // 2 :], 10)
    layers = [{"kind": "local-attention", "heads": 1, "head_width": 1, "window": 2, "count": 1}]
    told = exclusion(halves, capacity(describe({"model_type": "layers", "layers": layers}), precision=2, only=()))
    assert (told.first, told.quantity) == (4, "positions back")


def test_one_layer_is_held_against_the_partitions_that_its_arithmetic_allows():
    """Theorem 4 adds up scattered positions, which a layer that rounds after every addition does not follow."""
    counted = profile("parity", lambda x: sum(x) % 2, 4)
    layers = [{"kind": "attention", "heads": 1, "head_width": 4}]
    model = describe({"model_type": "layers", "layers": layers})
    fixed, floats = capacity(model, 16, only=(), arithmetic=FIXED), capacity(model, 16, only=())

    def told(held_against, **bits):
        lengths = (*counted.lengths[:-1], replace(counted.lengths[-1], **bits))
        return exclusion(replace(counted, lengths=lengths), held_against)

    scattered = {"communication_bits": 10**6, "prefix_bits": 2}
    assert (told(fixed, **scattered).first, told(floats, **scattered).first) == (4, None)
    cut = told(floats, communication_bits=10**6, prefix_bits=10**6)
    assert (cut.first, cut.quantity) == (4, "bits of communication")
    assert cut.arithmetic != told(fixed, **scattered).arithmetic
    assert cut.has is not None and cut.has > (told(fixed, **scattered).has or 0)
    whole = capacity(model, 16, only=(), arithmetic=numbers_named("exact"))
    assert told(whole, **scattered).quantity is None


@pytest.mark.parametrize("length", [3, 4, 6])
def test_bits_of_prefixes_are_those_of_the_cuts_that_were_examined(length):
    found = profile("equal", lambda x: x[: len(x) // 2] == x[len(x) // 2 : 2 * (len(x) // 2)], length)
    cuts = [each.bits for each in found.partitions if each.partition.name.startswith("cut:")]
    assert found.lengths[-1].prefix_bits == max(cuts, default=None)
