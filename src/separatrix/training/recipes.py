"""Recipes by name: how a run is optimised, apart from what is trained on what.

``paper`` is BHBK24 Appendix H as it is: Adam at a constant rate, one question to each text. ``strong`` is for results:
the rate rises over a warm-up and falls along a cosine to zero, gradients are clipped at norm 1, and where a task ends
in a question each text is asked many times (``Task.ask``), which costs little more than asking once. A recipe gives
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
    """The fields of a run that a recipe sets.

    >>> from separatrix.tasks import tasks
    >>> dict(recipe_fields("strong", tasks()["index-lookup"], 3000))
    {'warmup': 300, 'clip': 1.0, 'final_rate': 0.0, 'questions': 16}
    >>> dict(recipe_fields("strong", tasks()["eq-ncp"], 40000))
    {'warmup': 1000, 'clip': 1.0, 'final_rate': 0.0, 'questions': 1}
    >>> dict(recipe_fields("paper", tasks()["eq-ncp"], 40000))
    {}
    """
    if recipe not in RECIPES:
        raise UnknownNameError("recipe", recipe, RECIPES)
    if recipe == "paper":
        return {}
    warmup = max(1, min(LONGEST_WARMUP, steps // 10))
    return {"warmup": warmup, "clip": 1.0, "final_rate": 0.0, "questions": QUESTIONS if task.asks_last else 1}
