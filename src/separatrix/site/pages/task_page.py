"""A page for each task: what it asks, sizes against N, evidence for each class of models, networks, conversation, runs.

Structure that scripts and tests rely on: the evidence for a class of models is the section whose id is the class
(``rnn``, ``transformer-1layer``, …); every number's command is in ``#reproduce``.
"""

from collections.abc import Iterator
from html import escape

from separatrix.certificates import shown_count
from separatrix.site.html import table as html_table
from separatrix.site.origin import Origin
from separatrix.site.pages.cell_html import cell_inside, reading_line, training_mark, verdict_chip
from separatrix.site.pages.cells import TITLES, Grid
from separatrix.site.pages.components import (
    badge,
    command_block,
    counted,
    definitions,
    figure_slot,
    link_list,
    missing,
    number,
    origin_line,
    part,
    percent,
    plain_rows,
    task_address,
)
from separatrix.site.pages.drawing import example_html
from separatrix.site.pages.reproduce import reproduce
from separatrix.site.pages.shell import Page
from separatrix.site.pages.training import experiment_articles, reading_note
from separatrix.site.pages.why import why
from separatrix.site.section import Results


def task_page(task: str, sections: Results, grid: Grid) -> Page:
    """The page of one task from the results of all sections."""
    entry = next(each for each in sections["tasks"]["tasks"] if each["name"] == task)
    row = next(each for each in sections["separation"]["rows"] if each["task"] == task)
    names = list(_constructions(task, sections))
    main = (
        f"{_strip(row, grid)}{_about(entry)}{_chart(task, sections, grid)}{_evidence(row, sections, grid)}"
        f"{_networks(names, sections)}{_conversation(names, sections)}{_training(task, sections)}"
        f"{reproduce(entry, names, sections)}"
    )
    return Page(task_address(task), entry["title"], entry["question"], main, (("Tasks", "tasks.html"),))


def _constructions(task: str, sections: Results) -> Iterator[str]:
    """The constructions that serve a task: those of its cells, then its own that have no column in the table."""
    cells = sections["numbers"]["cells"][task]
    served = dict.fromkeys(each["name"] for cell in cells.values() for each in cell["constructions"])
    own = [each["name"] for each in sections["constructions"]["constructions"] if each["task"] == task]
    yield from dict.fromkeys([*served, *own])


def _strip(row: Results, grid: Grid) -> str:
    items = "".join(
        f'<li class="v-{row["cells"][model]["verdict"].replace(" ", "-")}"><a class="cell" href="#{model}">'
        f"<strong>{escape(title)}</strong>"
        f"{cell_inside(grid.cell(row['task'], model), grid.length, grid.precision)}</a></li>"
        for model, title in TITLES.items()
        if row["cells"][model]["verdict"] != "not applicable"
    )
    length, precision = f"{grid.lengths[grid.length]:,}", grid.precisions[grid.precision]
    reading = reading_line("../index.html#reading-heading")
    numbers = (
        f"Numbers at N = {length}: lower bounds at p = {precision}, those of attention and FNNs in fixed point; each "
        "network at its own p."
    )
    return (
        f'<ul class="verdicts" aria-label="Verdicts at N = {length}, bounds at p = {precision}">{items}</ul>'
        f'<p class="quiet">{numbers}</p>{reading}'
    )


def _about(entry: Results) -> str:
    split = entry["communication"]
    facts = {
        "source": entry["source"],
        "layout": entry["layout"],
        "promised": entry["promise"],
        "drawn": entry["drawn"],
        "symbols": entry["vocabulary"],
        # One that is None is left to the task: what it then is, layout and symbols say.
        "parameters": ", ".join(f"{key} = {value}" for key, value in entry["parameters"].items() if value != "None"),
        "hidden problem": f"{split['problem']}: {split['note']}",
        "majority baseline": percent(entry["commonest_answer_share"]),
    }
    origin = Origin("measured", "a random example", entry["command"], seed=0).plain()
    body = f"{example_html(entry, entry['examples'][0])}{definitions(facts)}{origin_line(origin)}"
    paragraphs = "".join(f"<p>{escape(sentence)}</p>" for sentence in why(entry))
    return part("about", "What it asks", body) + (part("why", "Why", paragraphs) if paragraphs else "")


def _chart(task: str, sections: Results, grid: Grid) -> str:
    cells = sections["numbers"]["cells"][task]
    commands = [
        f"separatrix bound {task} --model {model} --length {grid.lengths[grid.length]} --precision "
        f"{grid.precisions[grid.precision]}"
        for model, cell in cells.items()
        if cell["bounds"]
    ]
    served = [each["name"] for cell in cells.values() for each in cell["constructions"]]
    commands += [f"separatrix certify {served[0]} --length {grid.lengths[grid.length]}"] if served else []
    if not commands:
        return ""
    origin = Origin("proved", "certificates and bounds, exact", commands[0], "fixed point and integers").plain()
    return part("sizes", "How large it must be", f"{figure_slot(f'widths-{task}')}{origin_line(origin)}")


def _evidence(row: Results, sections: Results, grid: Grid) -> str:
    parts = "".join(
        _class_evidence(row["task"], model, title, row["cells"][model], sections, grid)
        for model, title in TITLES.items()
        if row["cells"][model]["verdict"] != "not applicable"
    )
    return part("evidence", "Evidence", parts)


def _class_evidence(task: str, model: str, title: str, cell: Results, sections: Results, grid: Grid) -> str:
    above = "".join(_side("≤", side) for side in cell["upper"])
    below = "".join(_side("≥", side) for side in cell["lower"])
    below += "".join(_trained(one) for one in cell["trained"])
    remarks = "".join(f'<li class="remark">{escape(remark)}</li>' for remark in cell["remarks"])
    numbers = grid.cell(task, model)
    listed = [bound["name"] for bound in sections["numbers"]["cells"][task][model]["bounds"]]
    links = link_list([(name, f"../bounds.html#bound-{name}") for name in listed])
    more = f'<p class="quiet">Evidence of the bounds, run: {links}.</p>' if listed else ""
    upper, _, _ = numbers.at(grid.length, grid.precision)
    if upper.command:
        at = f"At N = {grid.lengths[grid.length]:,}: {numbers.unit} {upper.text} ({upper.note})."
        more += f'<p class="quiet">{escape(at)}</p>{command_block(upper.command)}'
    if upper.narrower:
        also = f"Narrower, with a large lookup table: {numbers.unit} {upper.narrower.text} ({upper.narrower.note})."
        more += f'<p class="quiet">{escape(also)}</p>{command_block(upper.narrower.command)}'
    none = "" if above or below else '<p class="quiet">Nothing is known from either side.</p>'
    return (
        f'<section class="class-evidence" id="{model}"><h3>{escape(title)} {verdict_chip(cell["verdict"])} '
        f'{training_mark(numbers.training)}</h3><ul class="evidence">{above}{below}{remarks}</ul>{none}{more}</section>'
    )


def _side(mark: str, side: Results) -> str:
    """A certificate, an argument or a bound: each of them is a proof, a bound in the arithmetic that it names."""
    within = f"; {side['arithmetic']}" if side["arithmetic"] else ""
    return (
        f'<li><span class="side">{mark} {escape(side["growth"])}</span> {escape(side["text"] + within)} '
        f'<span class="quiet">{escape(side["source"])}</span> {badge("proved")}</li>'
    )


def _trained(one: Results) -> str:
    """Weights that training found: the certificate is a proof for every input of the length."""
    return (
        f'<li><span class="side">trained</span> {escape(one["text"])} <code>{escape(one["command"])}</code> '
        f"{badge('proved')}</li>"
    )


def _networks(names: list[str], sections: Results) -> str:
    if not names:
        body = missing("No construction for this task: what is known from above is a simple argument.")
    else:
        body = "".join(_network(name, sections) for name in names)
    return part("networks", "Networks", body)


def _network(name: str, sections: Results) -> str:
    entry = next(each for each in sections["constructions"]["constructions"] if each["name"] == name)
    shown = sections["networks"]["networks"][name]
    headings = ("N", "layers", "heads", "width", "p", "size in bits", "inputs covered", "method")
    keys = ("length", "layers", "heads", "width", "precision_bits", "size_bits", "inputs_covered", "method")
    sizes = [{**size, "inputs_covered": shown_count(size["inputs_covered"])} for size in entry["sizes"]]
    rows = plain_rows([[size[key] for key in keys] for size in sizes if size["certified"]])
    largest = entry["sizes"][-1] if entry["sizes"] else None
    origin = (
        origin_line(Origin("proved", "all inputs of each length", largest["command"], entry["arithmetic"]).plain())
        if largest
        else ""
    )
    more = f" {counted(shown['maps_left_out'], 'more head')} not drawn." if shown["maps_left_out"] else ""
    right = "as the task asks" if shown["right"] else "not as the task asks"
    return (
        f'<article class="network" id="network-{escape(name)}"><h3>{escape(entry["title"])} <code>{escape(name)}</code>'
        "</h3>"
        f'<div class="halves"><div>{figure_slot(f"attention-{name}")}</div><div>'
        f"<p>{escape(entry['theorem'])}: {escape(entry['statement'])}.</p>"
        f"{definitions({'deviations': '; '.join(entry['deviations'])})}"
        f'<p class="quiet">On the input <code>{escape(_cut(shown["input"]))}</code> the network answers {right}.{more}'
        "</p>"
        # The script makes it a link where the explorer serves the atlas.
        f'<p class="quiet" data-explore="construction={escape(name)}&amp;length=16">Bend it in the explorer: '
        "<code>separatrix serve</code></p>"
        f"{origin_line(shown['origin'])}</div></div>"
        f"{html_table(headings, rows, 'Certified for this page', numbers=(0, 1, 2, 3, 4, 5))}{origin}</article>"
    )


def _cut(text: str, most: int = 160) -> str:
    return text if len(text) <= most else f"{text[:most]}…"


def _conversation(names: list[str], sections: Results) -> str:
    runs, refused = sections["protocols"]["runs"], sections["protocols"]["refused"]
    found = "".join(_run(name, runs[name]) for name in names if name in runs)
    if not found:
        reasons = list(dict.fromkeys(refused[name] for name in names if name in refused))
        why = reasons[0] if reasons else "there is no network of one layer or recurrent network for it here"
        found = missing(f"No conversation to show: {why}.")
    return part("conversation", "As a conversation", found)


def _run(name: str, run: Results) -> str:
    said = run["transcript"]
    messages = "".join(
        f'<li class="{each["sender"].lower()}"><strong>{escape(each["sender"])} → {escape(each["receiver"])}</strong> '
        f'{escape(each["what"])} <span class="quiet">{counted(each["length"], "bit")}: '
        f"<code>{each['bits'][:32]}{'…' if each['length'] > 32 else ''}</code></span></li>"
        for each in said["messages"]
    )
    claim = run["claim"]
    within = "within" if claim["holds"] else "beyond"
    equal = "equal bit for bit" if run["equal"] else "not equal"
    return (
        f'<article class="protocol" id="protocol-{escape(name)}"><h3>{escape(run["theorem"])} on <code>'
        f'{escape(name)}</code></h3><div class="halves"><div>{figure_slot(f"protocol-{name}")}</div><div>'
        f"<p>Alice holds {counted(len(run['partition']['alice']), 'position')}, Bob "
        f"{len(run['partition']['bob'])} ({escape(run['partition']['name'])}). They exchange "
        f"<strong>{counted(said['total_bits'], 'bit')}</strong>, {within} the claimed {escape(claim['formula'])} = "
        f"{number(claim['bits'])} (m = {number(claim['m'])}, p = {claim['p']}); their result and a direct evaluation "
        f"are {equal}.</p>{_caveat(claim)}"
        f'<p class="quiet">Input <code>{escape(_cut(run["input"]))}</code></p>'
        f"<details><summary>The messages, bit by bit</summary>"
        f'<ol class="messages">{messages}</ol></details>{origin_line(run["origin"])}</div></div></article>'
    )


def _caveat(claim: Results) -> str:
    """The claim of Theorem 4 counts m; with the rows of the projections for it, it may not hold (E13)."""
    if claim.get("rows", claim["m"]) == claim["m"]:
        return ""
    caveat = escape("; ".join(claim["told"]))
    return f'<p class="quiet">Here m is the width of the network; {caveat}. <a href="../errata.html#E13">E13</a></p>'


def _training(task: str, sections: Results) -> str:
    training = sections["training"]
    rows = [row for row in training["rows"] if row["task"] == task]
    if rows:
        body = reading_note(training["steps"]) + experiment_articles(rows, "h3")
    else:
        body = missing(
            "The papers have no experiment on this task. Train one:",
            f"separatrix train {task} 'TF-(2,64)' --length 32",
        )
    marks = training["marks"].get(task, {})
    learned = [
        (
            TITLES[model], int(length), best["model"], percent(best["accuracy"]) + "*" * bool(best["undertrained"]),
            ", ".join(best["undertrained"]), best["run"],
        )
        for model, mark in marks.items()
        for length, best in sorted(mark["lengths"].items(), key=lambda pair: int(pair[0]))
    ]  # fmt: skip
    headings = ("class", "N", "best model", "accuracy", "undertrained (*)", "run")
    caption = "The best recorded run of each class at each length"
    table = html_table(headings, learned, caption, numbers=(1, 3)) if learned else ""
    return part("training", "Does it learn it?", f"{body}{table}")
