"""Pages that list others: all tasks, all architectures, and what the badges mean."""

from html import escape

from separatrix.site.origin import MEANINGS
from separatrix.site.pages.cell_html import verdict_chip
from separatrix.site.pages.cells import TITLES
from separatrix.site.pages.components import badge, command_block, link_list, missing, number, percent, task_address
from separatrix.site.pages.shell import Page
from separatrix.site.section import Results
from separatrix.site.sections.separation import COLUMNS


def tasks_page(sections: Results) -> Page:
    """All tasks with their question and verdicts."""
    tasks = {task["name"]: task for task in sections["tasks"]["tasks"]}
    cards = "".join(_task_card(tasks[row["task"]], row) for row in sections["separation"]["rows"])
    lead = f"{len(tasks)} problems of the two papers: what each asks, and how hard it is for each class of models. "
    lead += "1 layer, 2 layers: Transformers; FNN: a feed-forward network; 3rd: third-order attention."
    return Page("tasks.html", "Tasks", lead, f'<ul class="cards">{cards}</ul>')


def tasks_folder_page(sections: Results) -> Page:
    """What a server shows for the folder of the tasks' pages: links to all of them."""
    names = [(row["title"], f"../{task_address(row['task'])}") for row in sections["separation"]["rows"]]
    lead = f"The pages of all {len(names)} tasks."
    return Page("tasks/index.html", "Pages of tasks", lead, f"<p>{link_list(names)}</p>", (("Tasks", "tasks.html"),))


def _task_card(task: Results, row: Results) -> str:
    verdicts = "".join(
        f'<li><span title="{escape(TITLES[model])}">{escape(short)}</span> '
        f"{verdict_chip(row['cells'][model]['verdict'])}</li>"
        for model, short in COLUMNS.items()
        if row["cells"][model]["verdict"] != "not applicable"
    )
    return (
        f'<li class="card" id="task-{escape(task["name"])}"><h2><a href="{escape(task_address(task["name"]))}">'
        f"{escape(task['title'])}</a></h2><p>{escape(task['question'])}</p><ul class='chips'>{verdicts}</ul>"
        f'<p class="quiet">{escape(task["source"])}; majority baseline {percent(task["commonest_answer_share"])}'
        "</p></li>"
    )


def architectures_page(sections: Results) -> Page:
    """All architectures with their class and state."""
    found = sections["architectures"]
    lead = "What can be trained here: equations, the bits each carries from token to token, and what that forbids."
    cards = "".join(_architecture_card(row, found) for row in found["rows"])
    return Page("architectures.html", "Architectures", lead, f'<ul class="cards">{cards}</ul>')


def _architecture_card(row: Results, found: Results) -> str:
    first, last = row["state_bits"][0], row["state_bits"][-1]
    same = first["bits"] == last["bits"]
    carried = (
        f"{number(first['bits'])} bits, whatever N"
        if same
        else f"{number(first['bits'])} bits at N = {number(first['length'])}, {number(last['bits'])} at N = "
        f"{number(last['length'])}"
    )
    equation = row["equations"][row["main_equation"]]
    return (
        f'<li class="card"><h2><a href="architectures/{escape(row["name"])}.html">'
        f"{escape(row['title'])}</a></h2>"
        f'<p><code>{escape(equation)}</code></p><p class="quiet">{escape(row["model"])} at '
        f"{found['precision']} bits carries {carried}.</p></li>"
    )


def about_page(sections: Results, provenance: Results) -> Page:
    """What the badges mean and how the site is made."""
    badges = "".join(f"<dt>{badge(kind)}</dt><dd>{escape(meaning)}</dd>" for kind, (_, meaning) in MEANINGS.items())
    files = sections["training"]["files"] + [each["file"] for each in sections["frontier"]["recorded"]]
    recorded = (
        "<ul>" + "".join(f"<li><code>{escape(file)}</code></li>" for file in files) + "</ul>"
        if files
        else missing(
            "No records were read. Export runs into a folder and name it:", "separatrix atlas --records results"
        )
    )
    versions = "".join(
        f"<dt>{escape(name)}</dt><dd>{escape(str(version))}</dd>" for name, version in provenance["versions"].items()
    )
    main = (
        f'<section><h2>How far to trust a number</h2><dl class="legend">{badges}</dl></section>'
        f"<section><h2>Records that were read</h2>{recorded}</section>"
        "<section><h2>How it is made</h2><p>Sections collect results, the results are written to "
        '<a href="atlas.json">atlas.json</a>, and every page and figure is drawn from those results alone. The '
        "figures, as SVG and PNG for papers, are in the folder <code>figures</code>.</p>"
        f"{command_block(str(provenance['command']))}<dl>{versions}</dl></section>"
        "<section><h2>Sources</h2><dl><dt>BHBK24</dt><dd>Bhattamishra, Hahn, Blunsom and Kanade (2024), Separations in "
        "the Representational Capabilities of Transformers and Recurrent Architectures, arXiv:2406.09347</dd>"
        "<dt>SHT23</dt><dd>Sanford, Hsu and Telgarsky (2023), Representational Strengths and Limitations of "
        "Transformers, arXiv:2306.02896. What is taken from it was read from the slides of Daniel Hsu's talk about it "
        "(Yale S&amp;DS Seminar, November 2023); its errata are about the slides, and the paper was not checked for "
        "them.</dd></dl></section>"
    )
    lead = "What the numbers rest on, and how to make this site again."
    return Page("about.html", "About this atlas", lead, main)
