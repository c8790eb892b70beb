"""Next checks after BHBK24 §6: Mamba beyond width 1024 on the lengths of Figure 3."""

from separatrix.training.experiments.experiment import Experiment

EXPERIMENT = Experiment(
    name="beyond-widths",
    title="Index lookup: wider Mamba",
    source="beyond BHBK24, after the questions of its §6",
    task="index-lookup",
    common={},
    scales={
        "quick": {
            "architecture": ("Mamba-(1,32)", "Mamba-(1,64)"),
            "length": (5, 10, 20),
            "learning_rate": (0.005, 0.001),
            "steps": 1000,
            "evaluate_every": 250,
            "evaluation_examples": 2000,
        },
        "reduced": {
            "architecture": ("Mamba-(2,1024)", "Mamba-(2,2048)"),
            "length": (50, 100, 200),
            "learning_rate": (0.0005, 0.0002),
            "steps": 15000,
            "precision": "bfloat16",
        },
        "paper": {
            "architecture": ("Mamba-(2,1024)", "Mamba-(2,2048)"),
            "length": (20, 50, 75, 100, 200, 400),
            "learning_rate": (0.001, 0.0005, 0.0002, 0.0001),
            "steps": 250000,
            "evaluate_every": 1000,
        },
    },
)
