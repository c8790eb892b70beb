"""BHBK24 Figure 2, right: Dyck-(2,2), validation curves at length 400 and the accuracy at several lengths.

Transformers have four heads (the paper tunes 4 and 8) and need small learning rates here: from 10^-3 on they stay at
chance. The LSTM wants large ones.
"""

from separatrix.training.experiments.experiment import PAPER_RATES, Experiment

MODELS = ("TF-(1,256,heads=4)", "TF-(2,64,heads=4)", "LSTM-(1,64)", "Mamba-(1,64)")

EXPERIMENT = Experiment(
    name="figure2-dyck",
    title="Dyck-(2,2): one-layer Transformers against recurrent models",
    source="BHBK24 Figure 2, right",
    task="dyck",
    curves=True,
    near_perfect={**dict.fromkeys(MODELS, 400), "TF-(1,256,heads=4)": 100},
    common={},
    scales={
        "quick": {
            "architecture": ("TF-(1,64,heads=4)", "TF-(2,32,heads=4)", "LSTM-(1,32)", "Mamba-(1,32)"),
            "length": (20, 40, 60),
            "learning_rate": (0.005, 0.0005, 0.0003),
            "steps": 2000,
            "evaluate_every": 100,
            "probe_examples": 256,
            "evaluation_examples": 2000,
        },
        "reduced": {
            "architecture": MODELS,
            "length": (20, 50, 100, 200, 400),
            "learning_rate": (0.005, 0.001, 0.0005, 0.0002, 0.0001),
            "steps": 20000,
            "evaluate_every": 250,
            "precision": "bfloat16",
        },
        "paper": {
            "architecture": MODELS,
            "length": (20, 50, 100, 200, 400),
            "learning_rate": PAPER_RATES,
            "steps": 250000,
            "evaluate_every": 1000,
        },
    },
    note="The paper shows curves without numbers: TF-(1,256) near-perfect up to length 100 and worse beyond, the "
    "others near-perfect up to 400.",
)
