"""``sx.dataset``: examples of a task for a user's training loop, or as files."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from separatrix.api.arguments import checked
from separatrix.extras import require

if TYPE_CHECKING:
    from separatrix.tasks import Split, Task
    from separatrix.training import ExampleStream


@checked
def dataset(
    task: "str | Task | Callable[[Any], Any]",
    length: int,
    split: "Split" = "train",
    *,
    seed: int = 0,
    count: int | None = None,
) -> "ExampleStream":
    """Return a torch ``IterableDataset`` of a task's examples; the same seed gives the same ones for any number of
    workers.

    An example is a dict of ``input_ids`` and ``labels``, −100 where no answer is asked. ``count``: how many examples;
    without end if not given. ``export(folder, kind)`` writes them as "jsonl", "npz" or "huggingface", with a data card.

    >>> stream = dataset("mqar", length=8, count=2)
    >>> [example["input_ids"].shape[0] for example in stream]
    [12, 12]
    """
    require("a torch dataset", "torch")
    from separatrix.profiles import task_argument
    from separatrix.tasks import ExampleSet, try_user_task
    from separatrix.training import ExampleStream

    chosen = task_argument(task)
    examples = ExampleSet(chosen, length, split, seed, count)
    try_user_task(chosen, length)
    return ExampleStream(examples)
