"""E10: cosines run out of floating point."""

import numpy

from separatrix.arithmetic import arithmetic_named
from separatrix.constructions import Options, constructions
from separatrix.networks import evaluate
from separatrix.table.errata.erratum import Erratum, Finding

LENGTH, MODULUS = 16, 1 << 16


def show() -> tuple[Finding, ...]:
    """Near misses at M = 65,536 in float32: no number has a partner."""
    row = numpy.array([[0, *[7919 * place % MODULUS + 1 for place in range(1, LENGTH + 1)]]])
    row[:, 2::2] = (1 - row[:, 1:-1:2]) % MODULUS
    wrong: dict[str, int] = {}
    for name in ("match2", "match2-code"):
        built = constructions()[name].build(LENGTH, Options(parameters={"modulus": MODULUS}))
        expected = [0 if answer is None else int(str(answer)) for answer in built.task.solve(row[0].tolist(), LENGTH)]
        answers = evaluate(built.network, row, arithmetic_named("float32")).answers[0].tolist()
        wrong[name] = sum(given != right for given, right in zip(answers[1:], expected[1:], strict=True))
    return (
        Finding(
            "original",
            f"M = {MODULUS:,}, {LENGTH} numbers that all miss by one, float32: cosines answer {wrong['match2']} of "
            f"{LENGTH} wrongly",
            wrong["match2"] > 0,
        ),
        Finding("repair", f"sign codes answer {wrong['match2-code']} wrongly", wrong["match2-code"] == 0),
    )


ERRATUM = Erratum(
    number=10,
    source="SHT23 slides, Match2",
    title="Cosines run out of floating point",
    claim="One unit of constant width with scores α cos(2π(z + z′)/M) solves Match2.",
    fault="A match and a near miss differ by about 2π²α/M²; float32 confuses them from M ≈ 7,000 on.",
    repair="Exact arithmetic of O(log M) bits, or sign codes, query T(−z) and key T(z), which have no such limit.",
    show=show,
    command="separatrix certify match2-code --length 16 --set modulus=65536",
    arithmetic="float32",
)
