"""The estimate of memory: sizes as text, and refusals before any work."""

import pytest

from separatrix.certificates.memory import check_memory, estimated_bytes, parse_bytes
from separatrix.constructions import Options, constructions
from separatrix.errors import SeparatrixError


@pytest.mark.parametrize(
    ("text", "size"), [("8G", 8 << 30), ("500m", 500 << 20), ("1024", 1024), ("2 ", 2), ("3KB", 3 << 10)]
)
def test_sizes(text, size):
    assert parse_bytes(text) == size


@pytest.mark.parametrize("text", ["", "G", "-1G", "8X", "1e9", "9" * 40])
def test_sizes_that_are_none(text):
    with pytest.raises(SeparatrixError, match="not a size"):
        parse_bytes(text)


def test_the_estimate_grows_with_the_length_and_stays_below_the_default_where_it_must():
    small = constructions()["index-lookup"].build(64).network
    large = constructions()["index-lookup"].build(1 << 20, Options(exponent=1)).network
    assert estimated_bytes(small) < estimated_bytes(large) < 8 << 30
    check_memory(large, 8 << 30)
    with pytest.raises(SeparatrixError, match="raise --max-memory"):
        check_memory(large, 1 << 20)


def test_comparing_many_tokens_is_refused():
    with pytest.raises(SeparatrixError, match="GiB"):
        check_memory(constructions()["match2-code"].build(1024).network, 8 << 30)
