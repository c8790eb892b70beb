"""How the tests compare observed counts with an exact distribution."""

import math
from collections.abc import Mapping
from typing import Any


def assert_counts_follow(observed: Mapping[Any, int], expected: Mapping[Any, float]) -> None:
    """Every count within 5.5 standard deviations of its exact expectation, and nothing outside the support.

    Seeds are fixed, so a failure is never bad luck; the bound only has to be tight enough to see a wrong rule.
    """
    total = sum(observed.values())
    assert total > 0
    assert abs(sum(expected.values()) - 1) < 1e-9
    assert set(observed) <= {key for key, probability in expected.items() if probability > 0}
    for key, probability in expected.items():
        deviation = math.sqrt(total * probability * (1 - probability))
        assert abs(observed.get(key, 0) - total * probability) <= 5.5 * deviation + 1e-6, key
