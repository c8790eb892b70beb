"""BHBK24 Figure 3: index lookup by two-layer Mamba of several widths."""

from separatrix.training.experiments.experiment import PAPER_RATES, Experiment

MODELS = ("Mamba-(2,32)", "Mamba-(2,64)", "Mamba-(2,256)", "Mamba-(2,512)", "Mamba-(2,1024)")

EXPERIMENT = Experiment(
    name="figure3",
    title="Index lookup: Mamba's width",
    source="BHBK24 Figure 3",
    task="index-lookup",
    paper="figure_3_mamba_width",
    curves=True,
    curves_at={"reduced": 100, "paper": 100},
    common={},
    scales={
        "quick": {
            "architecture": ("Mamba-(2,8)", "Mamba-(2,16)", "Mamba-(2,32)"),
            "length": (5, 10, 20),
            "learning_rate": (0.005, 0.001),
            "steps": 1500,
            "evaluate_every": 250,
            "evaluation_examples": 2000,
        },
        "reduced": {
            "architecture": MODELS,
            "length": (20, 50, 75, 100, 200, 400),
            "learning_rate": (0.002, 0.001, 0.0005, 0.0002),
            "steps": 20000,
            "precision": "bfloat16",
        },
        "paper": {
            "architecture": MODELS,
            "length": (20, 50, 75, 100, 200, 400),
            "learning_rate": PAPER_RATES,
            "steps": 250000,
            "evaluate_every": 1000,
        },
    },
    note=(
        "The paper does not say at which length its curves were taken; ours are at 100, where its table tells all five "
        "widths apart."
    ),
)
