"""SHT23 "Empirical solution": a Transformer trained on sparse averaging, q = 3, N = 20; its attention over time.

A cell may name later cells, so attention is not masked. Runs train all their steps (goal 0), and the weights are kept
at the steps that are shown.
"""

from separatrix.training.experiments.experiment import Experiment

EXPERIMENT = Experiment(
    name="qsa-attention",
    title="Sparse averaging: attention over training",
    source="SHT23, empirical solution for qSA",
    task="sparse-averaging",
    curves=True,
    attention=True,
    common={"task_parameters": {"sparsity": 3}, "architecture": ("TF-(1,64,mask=none)",), "length": (20,), "goal": 0.0},
    scales={
        # Lists are values, tuples are axes.
        "quick": {
            "learning_rate": (0.002, 0.0005),
            "steps": 3000,
            "evaluate_every": 250,
            "evaluation_examples": 2000,
            "snapshots": [0, 1000, 3000],
        },
        "reduced": {
            "learning_rate": (0.001, 0.0005),
            "steps": 40000,
            "evaluate_every": 1000,
            "snapshots": [0, 1000, 40000],
        },
        "paper": {
            "learning_rate": (0.001,),
            "steps": 40000,
            "evaluate_every": 1000,
            "snapshots": [0, 1000, 40000],
        },
    },
    note="The slides show the attention after 0, 1000 and 40000 epochs, without numbers. Accuracy counts an answer as "
    "right when rounding it gives the exact integers.",
)
