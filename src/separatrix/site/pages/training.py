"""Training runs for pages: the tables of each experiment, ours next to the paper's."""

from collections.abc import Iterator, Sequence
from typing import Any

from separatrix.site.html import render
from separatrix.site.section import Results


def training_body(results: Results) -> str:
    """Return the page of the section: what is certified, then one article for each experiment."""
    attacks = results["attacks"]
    runs = [
        (
            f"{row['task']}, {row['model']}, N = {row['length']}, seed {row['seed']}", f"{100 * row['accuracy']:g} %",
            row["failing"], "every input" if row["certified"] else "", row["one"],
        )
        for row in attacks["rows"]
    ]  # fmt: skip
    return render(
        "training.html", attacked=results["attacked"], attacks=attacks, runs=runs, steps=results["steps"],
        certified=[(one["task"], one["text"], one["command"]) for one in results["certified"]],
        origins=results["certified_origins"], experiments=list(experiments(results["rows"])),
    )  # fmt: skip


def curves_name(row: Results) -> str:
    """Return the name of the figure of an experiment's curves."""
    return f"curves-{row['figure']}-{row['scale']}"


def experiments(rows: Sequence[Results]) -> Iterator[dict[str, Any]]:
    """Yield each experiment with its tables by (row, column), those with something to see first."""
    for row in sorted(rows, key=lambda row: (not row["recorded"], row["paper"] is None)):
        cells, paper = {(cell["row"], cell["column"]): cell for cell in row["cells"]}, row["paper"]
        compared = {key: cell["deviation"] for key, cell in cells.items()}
        several = len(row["columns"]) > 1
        # Where few cells are the paper's own, the remarks tell the differences better than an empty table.
        enough = several and 3 * sum(value is not None for value in compared.values()) >= len(compared)
        yield {
            **row, "curves_name": curves_name(row),
            "ours": {key: cell["accuracy"] for key, cell in cells.items()} if row["recorded"] and several else {},
            "spent": {key: cell["budget"] for key, cell in cells.items()},
            "pale": {key: cell["undertrained"] for key, cell in cells.items() if cell["undertrained"]},
            "compared": compared if enough else {},
            "theirs": {
                (name, column): value
                for name, line in zip(paper["rows"], paper["accuracy"], strict=True)
                for column, value in zip(paper["columns"], line, strict=True)
            } if paper else {},
        }  # fmt: skip
