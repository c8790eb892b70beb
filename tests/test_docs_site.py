"""The documentation builds as a site without a warning, its links lead somewhere, and what it says to do works."""

import importlib
import importlib.util
import os
import re
import subprocess
import sys
import tomllib
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import separatrix

ROOT = Path(__file__).resolve().parent.parent
SEPARATRIX = Path(sys.executable).with_name("separatrix")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
FILE = re.compile(r'^```\w+ title="([\w.-]+)"\n(.*?)^```', re.MULTILINE | re.DOTALL)
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


class Page(HTMLParser):
    """The links, the loaded files and the anchors of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links, self.loaded, self.anchors = [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.anchors |= {values[key] for key in ("id", "name") if values.get(key)}
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        if tag in ("script", "img", "iframe") and values.get("src"):
            self.loaded.append(values["src"])
        if tag == "link" and values.get("href") and values.get("rel") != "canonical":
            self.loaded.append(values["href"])


def load(tool):
    described = importlib.util.spec_from_file_location(f"tools_{tool}", ROOT / "tools" / f"{tool}.py")
    module = importlib.util.module_from_spec(described)
    described.loader.exec_module(module)
    return module


def built_site(folder):
    ended = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
    )
    assert ended.returncode == 0, "\n".join(line for line in ended.stderr.splitlines() if "WARNING" in line)
    return {path: Page(path.read_text(encoding="utf-8")) for path in folder.rglob("*.html") if path.name != "404.html"}


def dead_links(pages):
    for path, page in pages.items():
        for link in [*page.links, *page.loaded]:
            target = urlsplit(link)
            if target.scheme or target.netloc:
                continue
            file = Path(os.path.normpath(path.parent / unquote(target.path))) if target.path else path
            file = file / "index.html" if file.is_dir() else file
            if not file.exists():
                yield f"{path.name}: {link}"
            elif target.fragment and file in pages and unquote(target.fragment) not in pages[file].anchors:
                yield f"{path.name}: {link} (no such place on the page)"


def test_the_site_builds_strictly_and_every_link_in_it_resolves(tmp_path):
    pages = built_site(tmp_path / "site")
    names = {path.relative_to(tmp_path / "site").as_posix() for path in pages}
    assert {"index.html", "tutorial.html", "reference/command-line.html"} <= names
    assert list(dead_links(pages)) == []
    assert list(undocumented(pages)) == []
    # Nothing is loaded from elsewhere: the site works without a network.
    assert [each for page in pages.values() for each in page.loaded if urlsplit(each).netloc] == []
    # Docstrings are shown as Markdown: no role and no doctest is left as plain text.
    for path, page in pages.items():
        if "reference" in path.parts and page.anchors:
            text = re.sub(r"<pre.*?</pre>|<code.*?</code>", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
            assert not re.search(r":(?:class|func|meth):|&gt;&gt;&gt;", text), path.name


def undocumented(pages):
    """Functions of ``import separatrix`` that no page of the reference has; a room's index is its stub."""
    shown = {anchor for page in pages.values() for anchor in page.anchors}
    for name in separatrix.__all__:
        value = getattr(separatrix, name)
        if callable(value) and not isinstance(value, type) and f"{value.__module__}.{name}" not in shown:
            yield name


def test_dead_links_are_found(tmp_path):
    (tmp_path / "there.html").write_text('<p id="here">')
    page = Page('<a href="there.html#here"></a><a href="there.html#gone"></a><a href="gone.html"></a>')
    there = Page((tmp_path / "there.html").read_text())
    found = list(dead_links({tmp_path / "a.html": page, tmp_path / "there.html": there}))
    assert [each.split()[1] for each in found] == ["there.html#gone", "gone.html"]


def test_the_command_line_reference_is_up_to_date():
    tool = load("write_cli_reference")
    assert tool.PAGE.read_text(encoding="utf-8") == tool.reference(), "run  python tools/write_cli_reference.py"


def unknown_words(text, commands):
    """Verbs and options in a page's commands, run or not, that the application does not have."""
    for call in re.findall(r"\bseparatrix ([a-z]+(?:[ \n][^`#|&;]*)?)", text):
        # A call ends at its line, unless it is in running text and is broken there.
        words = call.replace("\n", " ").split() if text.count("\n") < 2 else call.partition("\n")[0].split()
        if words[0] not in commands:
            yield words[0]
            continue
        known = {name for each in commands[words[0]].params for name in [*each.opts, *each.secondary_opts]}
        yield from (f"{words[0]} {word}" for word in words if re.match(r"--?[a-z]", word) and word not in known)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_pages_use_only_verbs_and_options_that_exist(page):
    commands = load("write_cli_reference").commands()
    text = page.read_text(encoding="utf-8")
    calls = [body for kind, body in BLOCK.findall(text) if kind in ("sh", "console")]
    calls += re.findall(r"`(separatrix [a-z][^`]*)`", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL))
    assert [word for call in calls for word in unknown_words(call, commands)] == []


def test_unknown_verbs_and_options_are_found():
    commands = load("write_cli_reference").commands()
    assert list(unknown_words("separatrix sweep x --executor ray --wrong 1", commands)) == ["sweep --wrong"]
    assert list(unknown_words("separatrix sweap x --executor ray", commands)) == ["sweap"]


def test_links_out_of_the_documentation_lead_to_pages_that_show_the_file():
    hooks = load("docs_site")
    page = ROOT / "docs" / "how-to" / "page.md"
    text = "[a](../tasks.md#x) [b](../../src/separatrix/errors.py) [c](../../README.md) [d](../../gone.md)\n"
    moved = hooks.with_site_links(text, page, "how-to/page.md")
    assert re.findall(r"\(([^)]*)\)", moved) == [
        "../tasks.md#x",
        "../source/src/separatrix/errors.py.md",
        "../index.md",
        "../../gone.md",
    ]
    fenced = "```sh\n[b](../../src/separatrix/errors.py)\n```\n"
    assert hooks.with_site_links(fenced, page, "how-to/page.md") == fenced


def test_docstrings_become_markdown():
    shown = load("docstrings_for_site").shown
    assert shown("Like :meth:`Task.solve`.") == "Like `Task.solve`."
    assert shown("One.\n\n>>> 1\n1\n\nTwo.") == "One.\n\n```pycon\n>>> 1\n1\n```\n\nTwo."


@pytest.mark.parametrize(
    ("guide", "command"),
    [
        ("own-task", ["sample", "ends-agree", "--length", "8"]),
        ("own-theorem", ["certify", "binary-lookup", "--length", "16", "--out", "made"]),
    ],
)
def test_an_entry_point_of_a_guide_puts_its_example_into_the_catalog(guide, command, tmp_path):
    """The first Python block of the guide is installed as the module that the guide's TOML block declares."""
    page = (ROOT / "docs" / "how-to" / f"{guide}.md").read_text(encoding="utf-8")
    blocks = BLOCK.findall(page)
    declared = tomllib.loads(next(text for kind, text in blocks if kind == "toml"))["project"]["entry-points"]
    [(group, entries)] = declared.items()
    [(name, value)] = entries.items()
    file = f"{value.partition(':')[0]}.py"
    named = dict(FILE.findall(page))
    source = named[file] if file in named else next(text for kind, text in blocks if kind == "python")
    (tmp_path / file).write_text(source, encoding="utf-8")
    metadata = tmp_path / "example-0.1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: example\nVersion: 0.1\n")
    (metadata / "entry_points.txt").write_text(f"[{group}]\n{name} = {value}\n")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    ended = subprocess.run([SEPARATRIX, *command], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    assert ("Ends agree" if guide == "own-task" else "certified: every input") in ended.stdout
