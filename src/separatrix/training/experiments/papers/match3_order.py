"""After SHT23: Match3 by softmax attention against third-order attention, one layer each.

SHT23 shows that one layer of ordinary attention needs a size that grows with N for Match3 and that one of third-order
attention does not; here both are trained. Every cell sees all others, so attention is not masked.
"""

from separatrix.training.experiments.experiment import Experiment

EXPERIMENT = Experiment(
    name="match3-order",
    title="Match3: softmax against third-order attention",
    source="after SHT23, Match3",
    task="match3",
    curves=True,
    curves_at={"quick": 6, "reduced": 8, "paper": 8},
    common={},
    scales={
        "quick": {
            "architecture": ("TF-(1,32,mask=none)", "ThirdTF-(1,32,mask=none)"),
            "length": (6, 8),
            "learning_rate": (0.003, 0.001),
            "steps": 3000,
            "evaluate_every": 250,
            "evaluation_examples": 1000,
        },
        "reduced": {
            "architecture": ("TF-(1,64,mask=none)", "TF-(2,64,mask=none)", "ThirdTF-(1,64,mask=none)"),
            "length": (8, 12, 16, 32, 64),
            "learning_rate": (0.002, 0.001, 0.0005),
            "steps": 20000,
        },
        "paper": {
            "architecture": ("TF-(1,64,mask=none)", "TF-(2,64,mask=none)", "ThirdTF-(1,64,mask=none)"),
            "length": (8, 12, 16, 32, 64, 128),
            "learning_rate": (0.002, 0.001, 0.0005, 0.0002, 0.0001),
            "steps": 250000,
            "evaluate_every": 1000,
        },
    },
    note="The slides have no such experiment. The modulus is N², so that the sums modulo N² have to be learned as well "
    "as the matching; the curves are those of the shortest inputs, where the orders part first.",
)
