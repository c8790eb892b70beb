"""The index behind the site's search: every heading of every page with where it is and how its text begins.

It is a script that sets one variable, because a page opened from a disk may load scripts and no other files.
"""

import json
import re
from collections.abc import Mapping
from html.parser import HTMLParser

PATH = "assets/search.js"
MOST = 240
"""Letters of text that are kept under a heading."""
UNREAD = {"svg", "script", "style", "nav", "header", "footer", "button"}
VOID = {"meta", "link", "input", "br", "wbr", "img"}
INLINE = re.compile("a|b|code|em|m.+|small|span|strong")


def search_index(pages: Mapping[str, str]) -> str:
    """Return the script of the index from the pages by path.

    >>> search_index({"a.html": "<h1>A</h1><p>one</p><section id='b'><h2>B</h2>two</section>"})
    'window.ATLAS_INDEX=[["a.html","A","","one"],["a.html#b","A","B","two"]];'
    """
    entries = [entry for path, page in pages.items() for entry in _Reader(path, page).entries()]
    text = json.dumps(entries, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    return f"window.ATLAS_INDEX={text};"


class _Reader(HTMLParser):
    """Collects the headings of one page."""

    def __init__(self, path: str, page: str) -> None:
        super().__init__()
        self.path, self.open = path, list[tuple[str, str]]()
        self.found: list[tuple[str, list[str], list[str]]] = []
        self.feed(page)

    def entries(self) -> list[tuple[str, str, str, str]]:
        """Return address, title of the page, heading (none for the page itself) and text."""
        plain = [
            (f"{self.path}#{anchor}" if anchor and place else self.path, *(" ".join("".join(x).split()) for x in texts))
            for place, (anchor, *texts) in enumerate(self.found)
        ]
        title = plain[0][1] if plain else ""
        return [
            (address, title, heading if place else "", text[:MOST])
            for place, (address, heading, text) in enumerate(plain)
            if heading
        ]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin an entry at a heading; it leads to the innermost part with a name."""
        if tag in VOID:
            return
        if tag in ("h1", "h2", "h3"):
            named = [anchor for _, anchor in self.open if anchor]
            self.found.append((named[-1] if named else "", [], []))
        if self.found and not INLINE.fullmatch(tag):
            self.found[-1][2].append(" ")
        anchor = "" if tag in ("h1", "h2", "h3") else dict(attrs).get("id") or ""
        self.open.append((tag, anchor))

    def handle_endtag(self, tag: str) -> None:
        """Close the part."""
        while self.open and self.open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        """Keep the text of the heading, or below it."""
        tags = {tag for tag, _ in self.open}
        if self.found and not tags & UNREAD:
            heading = bool(tags & {"h1", "h2", "h3"})
            (self.found[-1][1] if heading else self.found[-1][2]).append(data)
