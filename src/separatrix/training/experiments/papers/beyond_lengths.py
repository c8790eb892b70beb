"""Next checks after BHBK24 §6: index lookup at lengths beyond 800."""

from separatrix.training.experiments.experiment import Experiment

EXPERIMENT = Experiment(
    name="beyond-lengths",
    title="Index lookup: longer inputs",
    source="beyond BHBK24, after the questions of its §6",
    task="index-lookup",
    curves=True,
    curves_at={"reduced": 800, "paper": 800},  # beyond it nothing was learned, at any scale so far
    common={},
    scales={
        "quick": {
            "architecture": ("TF-(1,64)", "TF-(1,128)"),
            "length": (60, 80),
            "learning_rate": (0.001, 0.0005),
            "steps": 2000,
            "evaluate_every": 250,
            "evaluation_examples": 2000,
        },
        "reduced": {
            "architecture": ("TF-(1,64)", "TF-(1,128)"),
            "length": (800, 1600, 3200),
            "learning_rate": (0.0005, 0.0002, 0.0001),
            "steps": 30000,
            "precision": "bfloat16",
        },
        "paper": {
            "architecture": ("TF-(1,64)", "TF-(1,128)"),
            "length": (800, 1600, 3200),
            "learning_rate": (0.001, 0.0005, 0.0002, 0.0001),
            "steps": 250000,
            "evaluate_every": 1000,
        },
    },
)
