"""Recipes by name: how a run is optimised, apart from what is trained on what.

``paper`` is BHBK24 Appendix H as it is: Adam at a constant rate, one question to each text. ``strong`` is for results:
the rate rises over a warm-up and falls along a cosine to zero, gradients are clipped at norm 1, and where a task ends
in a question each text is asked many times (``Task.ask``), which costs little more than asking once. BHBK24 trains on
all lengths up to the one that it evaluates; ``strong`` trains on that length alone, or in half of the examples where a
question comes last. Measured, three seeds each: RetNet-(2,64) on Eq-ncp at 100 in 20,000 steps 0.2 % with the paper's
lengths, 81 with half of the examples at full length, 99.9 with all; Mamba-(2,256) on index lookup at 50 in 10,000 steps
85.9, 99.3 and 96.3, where shorter texts lead the way to the longest. A recipe gives
defaults; whatever a run says itself is kept, and ``RunSpec.recipe`` says what a run came to.
"""

from collections.abc import Mapping
from typing import Any

from separatrix.errors import UnknownNameError
from separatrix.tasks import Task

QUESTIONS = 16
LONGEST_WARMUP = 1000
RECIPES = ("paper", "strong")


def recipe_fields(recipe: str, task: Task, steps: int) -> Mapping[str, Any]:
    """Return the fields of a run that a recipe sets."""
    if recipe not in RECIPES:
        raise UnknownNameError("recipe", recipe, RECIPES)
    if recipe == "paper":
        return {}
    warmup = max(1, min(LONGEST_WARMUP, steps // 10))
    questions, full_length = (QUESTIONS, 0.5) if task.asks_last else (1, 1.0)
    return {"warmup": warmup, "clip": 1.0, "final_rate": 0.0, "questions": questions, "full_length": full_length}
