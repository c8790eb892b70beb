"""The slow obvious oracle of every sign-code test: all inner products from all vectors."""

from fractions import Fraction

import numpy as np
import pytest


@pytest.fixture
def all_products():
    """A function from a code to the exact extremes of its inner products, by the full Gram matrix."""

    def extremes(code):
        signs = code.signs(range(code.count)).astype(np.int64)
        gram = signs @ signs.T
        assert np.array_equal(np.diag(gram), np.full(code.count, code.width))
        products = gram[~np.eye(code.count, dtype=bool)]
        return Fraction(int(products.max()), code.width), Fraction(int(products.min()), code.width)

    return extremes
