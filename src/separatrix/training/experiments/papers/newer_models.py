"""Beyond BHBK24: models that came later, on the cells of its Figure 2: Mamba-2, gated DeltaNet, a hybrid."""

from separatrix.training.experiments.experiment import Experiment

MODELS = ("Mamba2-(6,256)", "GDN-(6,256)", "Mamba,Mamba,TF-(6,256)")

EXPERIMENT = Experiment(
    name="newer-models",
    title="Index lookup: newer models",
    source="after BHBK24 Figure 2, left",
    task="index-lookup",
    common={},
    scales={
        "quick": {
            "architecture": ("Mamba2-(2,32)", "GDN-(2,32)", "Mamba,TF-(2,32)"),
            "length": (5, 10, 20),
            "learning_rate": (0.002, 0.0005),
            "steps": 1000,
            "evaluate_every": 250,
            "evaluation_examples": 2000,
        },
        "reduced": {
            "architecture": MODELS,
            "length": (20, 50, 100, 200, 400),
            "learning_rate": (0.001, 0.0005, 0.0002),
            "steps": 20000,
            "precision": "bfloat16",
        },
        "paper": {
            "architecture": MODELS,
            "length": (20, 50, 100, 200, 400),
            "learning_rate": (0.005, 0.001, 0.0005, 0.0002, 0.0001),
            "steps": 250000,
            "evaluate_every": 1000,
        },
    },
)
