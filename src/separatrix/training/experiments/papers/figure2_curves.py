"""BHBK24 Figure 2, middle: index lookup at length 200, validation accuracy over the training steps."""

from separatrix.training.experiments.experiment import PAPER_RATES, Experiment

MODELS = ("TF-(1,64)", "Mamba-(6,256)", "RetNet-(6,256)", "DSS-(6,256)", "LinTF-(6,256)", "LSTM-(3,256)")

EXPERIMENT = Experiment(
    name="figure2-curves",
    title="Index lookup at one length: accuracy over steps",
    source="BHBK24 Figure 2, middle",
    task="index-lookup",
    paper=None,
    curves=True,
    common={},
    scales={
        "quick": {
            "architecture": ("TF-(1,64)", "Mamba-(1,64)", "LSTM-(1,64)"),
            "length": (30,),
            "learning_rate": (0.002, 0.0005),
            "steps": 2000,
            "evaluate_every": 100,
            "evaluation_examples": 2000,
        },
        "reduced": {
            "architecture": MODELS,
            "length": (200,),
            "learning_rate": (0.001, 0.0005, 0.0002),
            "steps": 20000,
            "evaluate_every": 250,
            "precision": "bfloat16",
        },
        "paper": {
            "architecture": MODELS,
            "length": (200,),
            "learning_rate": PAPER_RATES,
            "steps": 250000,
            "evaluate_every": 1000,
        },
    },
)
