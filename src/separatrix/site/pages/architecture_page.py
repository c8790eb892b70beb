"""A page for each architecture: equations, state bits, what binds it, what it learned."""

from typing import TYPE_CHECKING, Any

from separatrix.site.html import render
from separatrix.site.pages.shell import Page
from separatrix.site.pages.text import number, percent, task_address

if TYPE_CHECKING:
    from separatrix.site.pages.found import Found
    from separatrix.site.sections.architectures import ArchitectureRow
    from separatrix.site.sections.training import Learned
    from separatrix.table import Best, Climb


def architecture_page(row: "ArchitectureRow", found: "Found") -> Page:
    """Return the page of one architecture from the results."""
    common, column = found.architectures, row.column
    bounds = [limit for limit in row.limits if limit.scope == "model"]
    kinds = {limit.arithmetic for limit in bounds}
    # What is the same in every row is said once above the table.
    shared = kinds.pop() if len(kinds) == 1 else ""
    limits = [
        (f"../{task_address(limit.task)}#{column}",
         (limit.task, number(limit.first_impossible) if limit.first_impossible else "never", limit.needs, limit.claim,
          *(() if shared else (limit.arithmetic,))))
        for limit in bounds
    ]  # fmt: skip
    easy = [
        (each.task, each.title, cell)
        for each in found.separation.rows
        if column and (cell := each.cells[column]).verdict in ("constant", "logarithmic")
    ]
    main = render(
        "architecture.html", row=row, precision=common.precision, limits=limits, shared=shared, easy=easy,
        lengths=[f"N = {number(length)}" for length in common.lengths],
        options=[(each.name, each.default, each.about, ", ".join(map(str, each.choices))) for each in row.options],
        widths=[(each.width, *each.bits) for each in row.state_bits_of_widths],
        read=[(f"N = {number(each.length)}", each.bits) for each in row.attention_bits if each.bits],
        **_learned(found.training.learned.get(row.name)),
    )  # fmt: skip
    kind = "recurrent" if row.recurrent else "not recurrent"
    work = "linearly" if row.linear_time else "faster than linearly"
    lead = f"{row.reference}. One layer is {kind}; work grows {work} with N."
    path = f"architectures/{row.name}.html"
    return Page(path, row.title, lead, main, (("Architectures", "architectures.html"),))


def _learned(found: "Learned | None") -> dict[str, Any]:
    """Return the table of the learned frontier; rows have their link first."""
    rows = found.rows if found else ()
    lengths = sorted({length for each in rows for length in each.lengths})

    def accuracy(best: "Best | None") -> str:
        return "–" if best is None else percent(best.accuracy) + "*" * bool(best.undertrained)

    def failed(each: "Climb") -> str:
        length = each.not_learned
        return "–" if length is None else number(length) + "*" * bool(each.lengths[length].undertrained)

    return {
        "learned": found, "links": [f"../{task_address(each.task)}#training" for each in rows],
        "frontier": [
            (each.task, each.model, number(each.learned), failed(each), number(each.bound)) for each in rows
        ],
        "tried": [f"N = {length:,}" for length in lengths],
        "accuracies": [
            (each.task, each.model, *(accuracy(each.lengths.get(length)) for length in lengths)) for each in rows
        ],
    }  # fmt: skip
