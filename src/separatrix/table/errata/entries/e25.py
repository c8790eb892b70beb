"""E25: the table of model sizes mixes two widths."""

from separatrix.bounds import FIXED
from separatrix.capacities import capacity, describe
from separatrix.table.errata.erratum import Erratum, Finding

PRECISION = 16
PRINTED = {"bert-large": 1024, "gpt2": 768, "gpt3": 128}
"""The slides' m."""


def show() -> tuple[Finding, ...]:
    """The printed m beside the widths of the models, and where the bounds then bite."""
    found: list[Finding] = []
    for name, printed in PRINTED.items():
        layer = describe(name).layers[0]
        what = "the width of the model" if printed == layer.width else "the width of a head"
        found.append(
            Finding(
                "original",
                f"{name}: m = {printed} is {what}; d = {layer.width}, {layer.heads} heads of {layer.head_width}",
                printed == (layer.width if name != "gpt3" else layer.head_width) and layer.width != layer.head_width,
            )
        )
    for name in PRINTED:
        layer = describe(name).layers[0]
        first = {
            limit.task: limit.first_impossible for limit in capacity(describe(name), PRECISION, arithmetic=FIXED).limits
        }
        found.append(
            Finding(
                "repair",
                f"{name} with m = {layer.head_width} of a head: in fixed point of {PRECISION} bits one layer alone "
                f"cannot do Dyck-(2,2) from N = {first['dyck']:,} or triple matching from N = {first['match3']:,} on",
                layer.heads * layer.head_width == layer.width,
            )
        )
    return tuple(found)


ERRATUM = Erratum(
    number=25,
    source="SHT23 slides, model sizes",
    title="The slides' table of model sizes mixes the width of a head and of the model",
    claim="BERT, GPT-2 and GPT-3 have m = 1024, 768 and 128, beside H = 16, 12 and 96.",
    fault="m is the width of one attention unit; for BERT and GPT-2 the width d = Hm of the model is given, "
    "so that Hm comes out H times too large.",
    repair="m = 64, 64 and 128, the width of a head.",
    show=show,
    command="separatrix capacity bert-large --precision 16 --arithmetic fixed",
    arithmetic="integers",
)
