"""BHBK24 Figure 2, right: Dyck-(2,2), validation curves at length 400 and the accuracy at several lengths."""

from separatrix.training.experiments.experiment import PAPER_RATES, Experiment

MODELS = ("TF-(1,256)", "TF-(2,64)", "LSTM-(1,64)", "Mamba-(1,64)")

EXPERIMENT = Experiment(
    name="figure2-dyck",
    title="Dyck-(2,2): one-layer Transformers against recurrent models",
    source="BHBK24 Figure 2, right",
    task="dyck",
    paper=None,
    curves=True,
    common={},
    scales={
        "quick": {
            "architecture": ("TF-(1,64)", "TF-(2,32)", "LSTM-(1,32)", "Mamba-(1,32)"),
            "length": (20, 60),
            "learning_rate": (0.005, 0.001),
            "steps": 1500,
            "evaluate_every": 100,
            "evaluation_examples": 2000,
        },
        "reduced": {
            "architecture": MODELS,
            "length": (50, 100, 200, 400),
            "learning_rate": (0.005, 0.001, 0.0005, 0.0001),
            "steps": 20000,
            "evaluate_every": 250,
            "precision": "bfloat16",
        },
        "paper": {
            "architecture": MODELS,
            "length": (50, 100, 200, 400),
            "learning_rate": PAPER_RATES,
            "steps": 250000,
            "evaluate_every": 1000,
        },
    },
)
