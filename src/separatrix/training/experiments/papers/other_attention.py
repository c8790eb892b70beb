"""Next checks after BHBK24 §6: softmax against hard and linear attention on index lookup, one layer of width 64."""

from separatrix.training.experiments.experiment import Experiment

MODELS = ("TF-(1,64)", "HardTF-(1,64)", "LinTF-(1,64)", "RetNet-(1,64)", "GLA-(1,64)")

EXPERIMENT = Experiment(
    name="other-attention",
    title="Index lookup: other attention",
    source="beyond BHBK24, after the questions of its §6",
    task="index-lookup",
    common={},
    scales={
        "quick": {
            "architecture": MODELS,
            "length": (5, 10, 20),
            "learning_rate": (0.002, 0.0005),
            "steps": 1500,
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
