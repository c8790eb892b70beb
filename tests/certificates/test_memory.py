"""The estimate of memory: what would not fit is refused before any work."""

import pytest

from separatrix.certificates.memory import INTERPRETER, check_memory, estimated_bytes
from separatrix.constructions import Options, constructions
from separatrix.errors import SeparatrixError


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


def test_a_recurrent_network_takes_little():
    built = constructions()["dyck-rnn"].build(1 << 16)
    assert estimated_bytes(built.network) == INTERPRETER
