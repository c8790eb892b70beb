"""BHBK24 Appendix H.2 (ii): Eq-one, negatives that differ at one position; the paper says all models learn it."""

from separatrix.training.experiments.experiment import PAPER_RATES, Experiment

MODELS = ("LSTM-(2,64)", "LinTF-(2,64)", "RetNet-(2,64)", "DSS-(2,64)", "Mamba-(2,64)", "TF-(2,64,heads=4)")

EXPERIMENT = Experiment(
    name="eq-one",
    title="String equality: Eq-one",
    source="BHBK24 Appendix H.2",
    task="eq-one",
    near_perfect=dict.fromkeys(MODELS, 400),
    common={},
    scales={
        "quick": {
            "task_parameters": {"vocabulary_size": 16},
            "architecture": ("LSTM-(2,32)", "DSS-(2,32)", "TF-(2,64,heads=4)"),
            "length": (10, 20),
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
    note="The paper gives no numbers: near-perfect for all models up to length 400.",
)
