"""BHBK24 Figure 2, left: index lookup, the final accuracy of six models at five lengths.

Quick scale: one or two layers of width 64 (Mamba: one of width 32) and lengths 5 to 40. The Transformer reaches its
goal within some thousand steps at every length; the recurrent models learn something at length 5 and fall from there.
"""

from separatrix.training.experiments.experiment import PAPER_RATES, Experiment

MODELS = ("LSTM-(3,256)", "LinTF-(6,256)", "RetNet-(6,256)", "DSS-(6,256)", "Mamba-(6,256)", "TF-(1,64)")

EXPERIMENT = Experiment(
    name="figure2-left",
    title="Index lookup: accuracy against length",
    source="BHBK24 Figure 2, left",
    task="index-lookup",
    paper="figure_2_index_lookup",
    common={"evaluate_every": 500},
    scales={
        "quick": {
            "architecture": (
                "LSTM-(1,64)", "LinTF-(2,64)", "RetNet-(2,64)", "DSS-(2,64)", "Mamba-(1,32)", "TF-(1,64)",
            ),
            "length": (5, 10, 20, 40),
            "learning_rate": (0.005, 0.0005),
            "steps": 1500,
            "evaluate_every": 250,
            "evaluation_examples": 2000,
        },
        "reduced": {
            "architecture": MODELS,
            "length": (20, 50, 100, 200, 400),
            "learning_rate": (0.002, 0.001, 0.0005, 0.0002, 0.0001),
            "steps": 20000,
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
)  # fmt: skip
