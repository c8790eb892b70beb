"""BHBK24 Figure 4, right: Eq-ncp, six models at five lengths; the quick scale has 64 symbols instead of 1024."""

from separatrix.training.experiments.experiment import PAPER_RATES, Experiment

MODELS = (
    "LSTM-(2,64)", "LinTF-(2,64)", "RetNet-(2,64)", "DSS-(2,64)", "Mamba-(2,64)", "TF-(2,64,heads=4)",
)  # fmt: skip

EXPERIMENT = Experiment(
    name="figure4-ncp",
    title="String equality: Eq-ncp",
    source="BHBK24 Figure 4, right; Appendix H.2",
    task="eq-ncp",
    paper="figure_4_eq_ncp",
    common={},
    scales={
        "quick": {
            "task_parameters": {"vocabulary_size": 64},
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
            "length": (100, 200, 400, 600, 800),
            "learning_rate": (0.002, 0.001, 0.0005, 0.0002, 0.0001),
            "steps": 20000,
            "precision": "bfloat16",
        },
        "paper": {
            "architecture": MODELS,
            "length": (100, 200, 400, 600, 800),
            "learning_rate": PAPER_RATES,
            "steps": 250000,
            "evaluate_every": 1000,
        },
    },
    note="A string counts only if every prefix is right. Positions that only the longest strings have are seen least "
    "in training and learned last, so the accuracy stays at 0 until a model is right nearly everywhere.",
)  # fmt: skip
