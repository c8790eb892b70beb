"""BHBK24 Figure 2, middle: index lookup at length 200, validation accuracy over the training steps."""

from separatrix.training.experiments.experiment import PAPER_RATES, Experiment

MODELS = ("TF-(1,64)", "Mamba-(6,256)", "RetNet-(6,256)", "DSS-(6,256)", "LinTF-(6,256)", "LSTM-(3,256)")

EXPERIMENT = Experiment(
    name="figure2-curves",
    title="Index lookup: curves of training",
    source="BHBK24 Figure 2, middle",
    task="index-lookup",
    curves=True,
    near_perfect={"TF-(1,64)": 200},
    common={},
    scales={
        "quick": {
            "architecture": ("TF-(1,64)", "Mamba-(1,32)", "RetNet-(2,64)", "DSS-(2,64)", "LinTF-(2,64)", "LSTM-(1,64)"),
            "length": (20,),
            "learning_rate": (0.005, 0.0005),
            "steps": 1500,
            "evaluate_every": 50,
            "probe_examples": 256,
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
    note="The paper shows curves without numbers: TF-(1,64) near-perfect within a few thousand steps, no other model.",
)
