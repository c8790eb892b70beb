"""BHBK24 Figure 4, left: Eq-random, six models at five lengths."""

from separatrix.training.experiments.experiment import PAPER_RATES, Experiment

MODELS = (
    "LSTM-(2,256)", "LinTF-(2,256)", "RetNet-(2,256)", "DSS-(2,256)", "Mamba-(2,256)", "TF-(2,256,heads=4)",
)  # fmt: skip

EXPERIMENT = Experiment(
    name="figure4-random",
    title="String equality: Eq-random",
    source="BHBK24 Figure 4, left; Appendix H.2",
    task="eq-random",
    paper="figure_4_eq_random",
    common={},
    scales={
        "quick": {
            "architecture": (
                "LSTM-(2,32)", "LinTF-(2,32)", "RetNet-(2,32)", "DSS-(2,32)", "Mamba-(2,16)", "TF-(2,64,heads=4)",
            ),
            "length": (10, 20, 40),
            "learning_rate": (0.005, 0.001, 0.0003),
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
