"""Pages that list others: all tasks, all architectures, and what the badges mean."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from separatrix.site.html import piece, render
from separatrix.site.pages.shell import Page
from separatrix.site.pages.text import task_address
from separatrix.site.sections.separation import COLUMNS

if TYPE_CHECKING:
    from separatrix.site.pages.found import Found
    from separatrix.site.sections.architectures import ArchitecturesResults


def tasks_page(found: "Found") -> Page:
    """List all tasks with their question and verdicts."""
    tasks = {task.name: task for task in found.tasks.tasks}
    lead = f"{len(tasks)} problems of the two papers: what each asks, and how hard it is for each class of models. "
    lead += "1 layer, 2 layers: Transformers; FNN: a feed-forward network; 3rd: third-order attention."
    main = render("tasks.html", tasks=tasks, rows=found.separation.rows, columns=COLUMNS)
    return Page("tasks.html", "Tasks", lead, main)


def tasks_folder_page(found: "Found") -> Page:
    """Return what a server shows for the folder of the tasks' pages: links to all of them."""
    names = [(row.title, f"../{task_address(row.task)}") for row in found.separation.rows]
    lead, main = f"The pages of all {len(names)} tasks.", f"<p>{piece('links', names)}</p>"
    return Page("tasks/index.html", "Pages of tasks", lead, main, (("Tasks", "tasks.html"),))


def architectures_page(found: "ArchitecturesResults") -> Page:
    """List all architectures with their class and state."""
    lead = "What can be trained here: equations, the bits each carries from token to token, and what that forbids."
    main = render("architectures.html", rows=found.rows, precision=found.precision)
    return Page("architectures.html", "Architectures", lead, main)


def about_page(found: "Found", provenance: Mapping[str, Any]) -> Page:
    """Say what the badges mean and how the site is made."""
    files = [*found.training.files, *(each.file for each in found.frontier.recorded)]
    lead = "What the numbers rest on, and how to make this site again."
    return Page("about.html", "About this atlas", lead, render("about.html", recorded=files, made=provenance))
