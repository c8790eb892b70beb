"""Beyond BHBK24's figures (seed summary, next checks): index lookup at lengths beyond 800 and widths beyond 1024."""

from separatrix.training.experiments.experiment import Experiment

EXPERIMENT = Experiment(
    name="beyond-lengths",
    title="Index lookup: longer inputs, wider Mamba, other attention",
    source="next checks after BHBK24 §6",
    task="index-lookup",
    paper=None,
    common={},
    scales={
        "quick": {
            "architecture": ("TF-(1,64)", "HardTF-(1,64)", "LinTF-(1,64)"),
            "length": (20, 40),
            "learning_rate": (0.002, 0.0005),
            "steps": 1500,
            "evaluate_every": 250,
            "evaluation_examples": 2000,
        },
        "reduced": {
            "architecture": ("TF-(1,64,heads=1)", "TF-(1,128,heads=1)"),
            "length": (800, 1600, 3200),
            "learning_rate": (0.0005, 0.0002, 0.0001),
            "steps": 30000,
            "precision": "bfloat16",
        },
        "paper": {
            "architecture": ("TF-(1,64)", "TF-(1,128)", "Mamba-(2,2048)"),
            "length": (800, 1600, 3200),
            "learning_rate": (0.001, 0.0005, 0.0002, 0.0001),
            "steps": 250000,
            "evaluate_every": 1000,
        },
    },
)
