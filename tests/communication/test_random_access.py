"""The limit on average accuracy, held against the best codes that there are at small sizes, by brute force."""

from itertools import product

import pytest

from separatrix.communication.random_access import bits_of_symbol, longest_on_average


def best_accuracy(length: int, alphabet: int, states: int) -> float:
    """The best average accuracy of any encoding of all texts in so many states, with the best decoder."""
    texts = list(product(range(alphabet), repeat=length))
    best = 0
    for code in product(range(states), repeat=len(texts)):
        counts = [[[0] * alphabet for _ in range(length)] for _ in range(states)]
        for text, state in zip(texts, code, strict=True):
            for place, symbol in enumerate(text):
                counts[state][place][symbol] += 1
        best = max(best, sum(max(each) for places in counts for each in places))
    return best / (len(texts) * length)


@pytest.mark.parametrize(("length", "alphabet", "bits"), [(1, 2, 1), (2, 2, 1), (3, 2, 1), (2, 2, 2), (1, 3, 1)])
def test_no_code_is_better_than_the_limit_allows(length, alphabet, bits):
    """At the accuracy of the best code its own length is not excluded."""
    accuracy = best_accuracy(length, alphabet, 2**bits)
    limit = longest_on_average(bits, alphabet, accuracy)
    assert limit is None or limit >= length
    assert bits_of_symbol(alphabet, accuracy) * length <= bits + 1e-9


def test_the_limit_excludes_what_is_impossible():
    """Two bits cannot be kept in one, and three quarters of the answers is the most that one bit gives."""
    assert longest_on_average(1, 2, 1.0) == 1
    assert best_accuracy(2, 2, 2) == 0.75
    assert longest_on_average(1, 2, 0.95) == 1


def test_it_grows_as_less_is_asked():
    """From right on every symbol down to chance, where nothing is excluded."""
    found = [longest_on_average(600, 64, accuracy) for accuracy in (1.0, 0.99, 0.9, 0.5, 0.02)]
    assert found[0] == 100 and found == sorted(found)
    assert longest_on_average(600, 64, 1 / 64) is None
