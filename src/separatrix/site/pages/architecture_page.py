"""A page for each architecture: equations, state bits, what binds it, what it learned."""

from html import escape

from separatrix.site.html import table as html_table
from separatrix.site.pages.cell_html import verdict_chip
from separatrix.site.pages.cells import TITLES
from separatrix.site.pages.components import definitions, missing, number, origin_line, part, percent, task_address
from separatrix.site.pages.shell import Page
from separatrix.site.section import Results
from separatrix.training import RULE


def architecture_page(row: Results, sections: Results) -> Page:
    """The page of one architecture from the results."""
    parts = (_state, _limits, _can, _learned)
    main = _equations(row) + "".join(make(row, sections) for make in parts)
    kind = "recurrent" if row["recurrent"] else "not recurrent"
    work = "linearly" if row["linear_time"] else "faster than linearly"
    lead = f"{row['reference']}. One layer is {kind}; work grows {work} with N."
    path = f"architectures/{row['name']}.html"
    return Page(path, row["title"], lead, main, (("Architectures", "architectures.html"),))


def _equations(row: Results) -> str:
    lines = "".join(f"<li><code>{escape(line)}</code></li>" for line in row["equations"])
    options = [
        (each["name"], str(each["default"]), each["about"], ", ".join(map(str, each["choices"])))
        for each in row["options"]
    ]
    table = html_table(("option", "default", "what it sets", "choices"), options) if options else ""
    facts = {"short name": row["short"], "block": row["block"], "deviations": "; ".join(row["deviations"])}
    return part("equations", "Equations", f'<ol class="equations">{lines}</ol>{definitions(facts)}{table}')


def _state(row: Results, sections: Results) -> str:
    common = sections["architectures"]
    headings = ("width", *(f"N = {number(length)}" for length in common["lengths"]))
    rows = [(number(each["width"]), *map(number, each["bits"])) for each in row["state_bits_of_widths"]]
    caption = (
        f"Bits that one layer carries past a cut of its input, {common['precision']} bits a number (BHBK24 Theorem 2)"
    )
    table = html_table(headings, rows, caption, numbers=tuple(range(len(headings))))
    attention = [each for each in row["attention_bits"] if each["bits"] is not None]
    more = (
        html_table(
            tuple(f"N = {number(each['length'])}" for each in attention),
            [tuple(number(each["bits"]) for each in attention)],
            f"Bits that one attention layer of {row['model']} reads, m·H·(p + ⌈log₂ N⌉) (Theorem 4)",
            numbers=tuple(range(len(attention))),
        )
        if attention
        else ""
    )
    return part("state", "What it carries", f"{table}{more}{origin_line(row['origin'])}")


def _limits(row: Results, sections: Results) -> str:
    common = sections["architectures"]
    limits = [limit for limit in row["limits"] if limit["scope"] == "model"]
    about = (
        f"<p>{escape(row['model'])} at {common['precision']} bits a number: from these lengths on, whatever its "
        f"weights, some input is answered wrongly. {escape(row['reason'])}</p>"
    )
    shown = [
        (limit["task"], "never" if limit["first_impossible"] is None else number(limit["first_impossible"]),
         limit["needs"], limit["claim"], limit.get("arithmetic", ""))
        for limit in limits
    ]  # fmt: skip
    table = html_table(
        ("task", "impossible from N", "bits needed", "claim", "arithmetic"), shown, numbers=(1,),
        links=[f"../{task_address(limit['task'])}#{row['class']}" for limit in limits],
    )  # fmt: skip
    body = f"{about}{table}" if limits else missing(row["reason"])
    return part("cannot", "What it cannot", body)


def _can(row: Results, sections: Results) -> str:
    if row["class"] is None:
        return ""
    easy = [
        (each["task"], each["title"], cell["verdict"], next((side["text"] for side in cell["upper"]), ""))
        for each in sections["separation"]["rows"]
        if (cell := each["cells"].get(row["class"])) and cell["verdict"] in ("constant", "logarithmic")
    ]
    items = "".join(
        f'<li><a href="../{escape(task_address(task))}#{row["class"]}">{escape(title)}</a> {verdict_chip(verdict)} '
        f'<span class="quiet">{escape(text)}</span></li>'
        for task, title, verdict, text in easy
    )
    title = TITLES[row["class"]]
    body = (
        f"<p>Models of the class “{escape(title)}” that need no more than logarithmic size, by explicit weights or a "
        f"simple argument; a trained {escape(row['short'])} has the same freedom where its layer can express them.</p>"
        f'<ul class="evidence">{items}</ul>'
        if easy
        else missing(f"No task of the table is known to be easy for the class “{title}”.")
    )
    return part("can", "What its class can", body)


def _learned(row: Results, sections: Results) -> str:
    found = sections["training"]["learned"].get(row["name"])
    if not found:
        body = missing(
            "No run of this architecture is recorded. Train one:",
            f"separatrix train index-lookup '{row['model']}' --length 50",
        )
        return part("learned", "What it learned", body)
    rows = found["rows"]
    lengths = sorted({int(length) for each in rows for length in each["lengths"]})
    headings = ("task", "model", "learned to N", "not at N", "no weights beyond N", *(f"N = {n:,}" for n in lengths))
    shown = [
        (
            each["task"], each["model"], _length(each["learned"]), _not_learned(each), _length(each["bound"]),
            *(_best(each["lengths"].get(str(length))) for length in lengths),
        )
        for each in rows
    ]  # fmt: skip
    caption = (
        "The learned frontier: the longest input learned to 99 %, the shortest tried and not learned, the longest that "
        "a lower bound leaves open to any weights, and the best accuracy at each length. A star: undertrained, "
        f"{RULE}"
    )
    table = html_table(
        headings, shown, caption, numbers=tuple(range(2, len(headings))),
        links=[f"../{task_address(each['task'])}#training" for each in rows],
    )  # fmt: skip
    return part("learned", "What it learned", f"{table}{origin_line(found['origin'])}")


def _length(value: int | None) -> str:
    return "–" if value is None else number(value)


def _best(found: Results | None) -> str:
    return "–" if found is None else percent(found["accuracy"]) + "*" * bool(found["undertrained"])


def _not_learned(row: Results) -> str:
    length = row["not_learned"]
    return _length(length) + "*" * (length is not None and bool(row["lengths"][str(length)]["undertrained"]))
