"""Other attention in the place of the theorems' own: every construction with every kind is certified or refuted."""

from dataclasses import replace
from pathlib import Path

import numpy
import pytest
from tools.attention_table import LONGER, names, small, verdict_of, word

from separatrix.certificates import Claim, check, replay
from separatrix.constructions import Options, constructions
from separatrix.constructions.construction import with_attention
from separatrix.errors import SeparatrixError
from separatrix.networks import FeedForward, Network
from separatrix.networks.store import to_bytes
from separatrix.networks.weights import SCORINGS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "constructions.md"
EVERY = pytest.mark.parametrize("name", names())


@EVERY
@pytest.mark.parametrize("kind", SCORINGS)
def test_every_kind_is_decided_where_all_inputs_can_be_tried(name, kind):
    built = small(name, kind)
    claim = Claim(built.task, built.length, built.arithmetic)
    verdict, truth = check(built.network, claim), check(built.network, claim, "enumeration")
    assert truth.valid != truth.refuted, truth.reason
    assert (verdict.valid, verdict.refuted) == (truth.valid, truth.refuted)
    if verdict.refuted:
        assert not replay(built.network, claim, numpy.array(verdict.counterexample))["right"]


@EVERY
def test_the_documented_table_is_what_the_checker_finds(name):
    """The columns of the small length; those of N = 16 take longer and are filled by the script alone."""
    row = next(line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith(f"| {name} | cert"))
    cells = [each.strip() for each in row.strip("|").split("|")][1:]
    assert len(cells) == len(SCORINGS)
    for kind, cell in zip(SCORINGS, cells, strict=True):
        built = small(name, kind)
        found = word(verdict_of(built))
        assert cell == found or (cell.startswith(f"{found} at {built.length}, ") and cell.endswith(f" at {LONGER}"))


@EVERY
def test_only_the_attention_changes(name):
    own, other = small(name, None).network, small(name, "relu").network
    assert isinstance(own, Network) and isinstance(other, Network)
    assert "relu attention" in other.about
    assert {head.scoring for layer in other.layers if not isinstance(layer, FeedForward) for head in layer.heads} == {
        "relu"
    }
    if name != "dyck-transformer":
        back = with_attention(other, "softmax")
        assert isinstance(back, Network)
        assert to_bytes(replace(back, about=own.about)) == to_bytes(own)


def test_without_attention_and_with_an_unknown_one():
    for name in ("dyck-dfa", "dyck-rnn"):
        with pytest.raises(SeparatrixError, match="no attention"):
            constructions()[name].build(8, Options(attention="hard"))
    with pytest.raises(SeparatrixError, match="sparsemax"):
        constructions()["equality"].build(8, Options(attention="sparsemax"))  # type: ignore[arg-type]
