"""After BHBK24 Theorem 3: recurrent models trained on index lookup, to see how many bits of their state they use.

Theorem 3 says that a recurrent model of m numbers of p bits needs m ≥ N/p up to a constant. Here models are trained at
lengths that they can learn, and afterwards their state is rounded to fewer and fewer bits (``state_bits_data``).
"""

from separatrix.training.experiments.experiment import Experiment

EXPERIMENT = Experiment(
    name="state-bits",
    title="Index lookup: bits of a trained state",
    source="after BHBK24 Theorem 3",
    task="index-lookup",
    rounded=True,
    common={},
    scales={
        "quick": {
            "architecture": ("LSTM-(1,64)", "GRU-(1,64)"),
            "length": (2, 3, 5),
            "learning_rate": (0.005, 0.002),
            "steps": 2000,
            "evaluate_every": 250,
            "evaluation_examples": 2000,
        },
        "reduced": {
            "architecture": ("LSTM-(1,128)", "LSTM-(1,256)", "Mamba-(1,64)"),
            "length": (5, 10, 20, 40),
            "learning_rate": (0.005, 0.002, 0.001, 0.0005),
            "steps": 20000,
            "precision": "bfloat16",
        },
        "paper": {
            "architecture": ("LSTM-(1,128)", "LSTM-(1,256)", "Mamba-(1,64)"),
            "length": (5, 10, 20, 40),
            "learning_rate": (0.005, 0.002, 0.001, 0.0005, 0.0002),
            "steps": 250000,
            "evaluate_every": 1000,
        },
    },
    note="The paper has no such experiment; its bound holds up to a constant.",
)
