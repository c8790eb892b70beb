"""How the documentation becomes a site: hooks of ``mkdocs.yml`` that let one text serve the repository and the site.

The README is the site's front page and CONTRIBUTING one of its pages; neither is copied by hand. Links from a page to a
file of the repository that is not documentation (a source file, a folder of entries) lead to a page of the site that
shows it. A link to a file that is not there is left as it is, so that a strict build refuses it.
"""

import ast
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
TOP_PAGES = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md"}
"""Pages at the top of the repository, and where the site has them."""
LINK = re.compile(r"(?<=\]\()([^)#:\s]+)(?=[#)])")
FENCED = re.compile(r"^(```.*?^```[^\n]*$)", re.MULTILINE | re.DOTALL)
QUIET = re.compile(r"^(\$ .*?) +# not shown$", re.MULTILINE)
"""A mark for tools/fill_examples.py, of no use to a reader."""
NOT_SEARCHED = "---\nsearch:\n  exclude: true\n---\n\n"


def outside_code(text: str, change: Callable[[str], str]) -> str:
    """The text with a change made everywhere but in fenced blocks."""
    return "".join(part if part.startswith("```") else change(part) for part in FENCED.split(text))


def place_in_site(path: Path) -> str | None:
    """Where the site has a file or folder of the repository, or None where it has none."""
    if not path.exists() or not path.is_relative_to(ROOT):
        return None
    if path.is_relative_to(DOCS):
        return path.relative_to(DOCS).as_posix()
    name = path.relative_to(ROOT).as_posix()
    if name in TOP_PAGES:
        return TOP_PAGES[name]
    return f"source/{name}/index.md" if path.is_dir() else f"source/{name}.md"


def linked(text: str, page: Path) -> list[Path]:
    """The files and folders to which a page of the repository links."""
    plain = FENCED.sub("", text)
    return [Path(os.path.normpath(page.parent / target)) for target in LINK.findall(plain)]


def with_site_links(text: str, page: Path, place: str) -> str:
    """A page's text with links as they lead in the site, where the page has the given place."""

    def moved(found: re.Match[str]) -> str:
        target = place_in_site(Path(os.path.normpath(page.parent / found[0])))
        return found[0] if target is None else os.path.relpath(target, Path(place).parent)

    return outside_code(text, lambda part: LINK.sub(moved, part))


def source_page(path: Path) -> str:
    """A page that shows a file, or lists the modules of a folder with the first line of each docstring."""
    name = path.relative_to(ROOT).as_posix()
    if path.is_dir():
        rows = [f"| {each.name} | {summary(each)} |" for each in sorted(path.glob("*.py")) if each.name[0] != "_"]
        return "\n".join([f"{NOT_SEARCHED}# {name}", "", "| file | what it is |", "|---|---|", *rows, ""])
    language = {".py": "python", ".toml": "toml", ".json": "json", ".cff": "yaml"}.get(path.suffix, "text")
    return f"{NOT_SEARCHED}# {name}\n\n````{language}\n{path.read_text(encoding='utf-8').rstrip()}\n````\n"


def summary(path: Path) -> str:
    """The first line of a module's docstring, fit for a table."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return text.partition("\n")[0].replace("|", "\\|")


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that are not under docs/."""
    pages = [
        *(ROOT / name for name in TOP_PAGES),
        *(Path(file.abs_src_path) for file in files.documentation_pages() if file.abs_src_path is not None),
    ]
    shown: dict[str, Path] = {}
    for page in pages:
        for path in linked(page.read_text(encoding="utf-8"), page):
            place = place_in_site(path)
            if place is not None and place.startswith("source/"):
                shown[place] = path
    for name, place in TOP_PAGES.items():
        text = with_site_links((ROOT / name).read_text(encoding="utf-8"), ROOT / name, place)
        files.append(File.generated(config, place, content=QUIET.sub(r"\1", text)))
    for place, path in sorted(shown.items()):
        if path.suffix in (".svg", ".png"):
            continue
        files.append(File.generated(config, place, content=source_page(path)))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Point a page's links to the repository's other files at the pages that show them."""
    file = page.file
    if file.generated_by is not None or file.abs_src_path is None:
        return markdown
    return QUIET.sub(r"\1", with_site_links(markdown, Path(file.abs_src_path), file.src_uri))
