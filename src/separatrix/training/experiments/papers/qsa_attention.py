"""SHT23 "Empirical solution": a Transformer trained on sparse averaging, q = 3, N = 20; its attention over time."""

from separatrix.training.experiments.experiment import Experiment

EXPERIMENT = Experiment(
    name="qsa-attention",
    title="Sparse averaging: attention matrices over training",
    source="SHT23, empirical solution for qSA",
    task="sparse-averaging",
    paper=None,
    curves=True,
    common={"task_parameters": {"sparsity": 3}, "length": (20,)},
    scales={
        "quick": {
            "architecture": ("TF-(1,64,heads=1)",),
            "learning_rate": (0.002, 0.0005),
            "steps": 2000,
            "evaluate_every": 200,
        },
        "reduced": {
            "architecture": ("TF-(1,64,heads=1)",),
            "learning_rate": (0.001, 0.0005),
            "steps": 40000,
            "evaluate_every": 1000,
        },
        "paper": {
            "architecture": ("TF-(1,64,heads=1)",),
            "learning_rate": (0.001,),
            "steps": 40000,
            "evaluate_every": 1000,
        },
    },
    note="The slides show the attention after 0, 1000 and 40000 steps.",
)
