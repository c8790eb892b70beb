"""The frame of every page: head, header with navigation, main part, footer with how the site was made.

Pages are files side by side with ``assets/site.css`` and ``assets/site.js``; all addresses are relative, so that the
folder opens from a disk, without a server and without a network. Scripts only add: everything is readable without.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import NamedTuple

from separatrix.site.pages.components import VERSION_SLOT, code, figure_html, figure_slot, files_html, files_slot
from separatrix.site.section import Figure, Results

MARK = (
    '<svg class="mark" viewBox="0 0 32 32" aria-hidden="true" focusable="false"><rect width="32" height="32" rx="7"/>'
    '<path d="M4 25C13 24 13 8 28 7"/><circle cx="10" cy="10" r="3"/><rect x="19" y="18" width="6" height="6"/></svg>'
)
"""A curve between two regions."""


@dataclass(frozen=True)
class Page:
    """One page: its path below the site's folder, what is in its head and header, and its main part as HTML."""

    path: str
    title: str
    lead: str
    main: str
    parents: tuple[tuple[str, str], ...] = ()
    """Pages above this one: (title, path)."""

    @property
    def root(self) -> str:
        """What leads from this page to the site's folder."""
        return "../" * self.path.count("/")


class Link(NamedTuple):
    """A link of the navigation; links that name the same menu are folded into it."""

    title: str
    path: str
    menu: str = ""


@dataclass(frozen=True)
class Frame:
    """What all pages share: the links of the navigation and the record of the build."""

    links: Sequence[Link]
    provenance: Results

    def render(self, page: Page, figures: Mapping[str, Figure]) -> str:
        """The whole page; slots of figures are filled, figures that are not there leave nothing."""
        root = page.root
        main = page.main
        for name, figure in figures.items():
            main = main.replace(figure_slot(name), figure_html(figure, root))
            files = f'<p class="quiet">The whole figure, for a paper: {files_html(figure, root)}</p>'
            main = main.replace(files_slot(name), files)
        body = (
            f'<a class="skip" href="#main">Skip to the content</a>{self._header(page)}'
            f'<main id="main">{self._heading(page)}{main}</main>{self._footer(root)}'
        )
        version = escape(str(self.provenance["versions"]["separatrix"]))
        return _document(page, body).replace(VERSION_SLOT, version)

    def _header(self, page: Page) -> str:
        here = [page.path, *(path for _, path in page.parents)]
        menus: dict[str, list[Link]] = {}
        for link in self.links:
            menus.setdefault(link.menu or link.title, []).append(link)
        links = "".join(_menu(name, folded, page.root, here) for name, folded in menus.items())
        return (
            f'<header class="top"><a class="brand" href="{page.root}index.html">{MARK}<span>Separatrix</span></a>'
            f'<nav aria-label="Site"><ul>{links}</ul></nav></header>'
        )

    def _heading(self, page: Page) -> str:
        above = "".join(
            f'<li><a href="{page.root}{escape(path)}">{escape(title)}</a></li>' for title, path in page.parents
        )
        trail = f'<nav class="trail" aria-label="Breadcrumb"><ol>{above}</ol></nav>' if above else ""
        return f'<div class="heading">{trail}<h1>{escape(page.title)}</h1><p class="lead">{escape(page.lead)}</p></div>'

    def _footer(self, root: str) -> str:
        record = self.provenance
        versions = ", ".join(f"{escape(name)} {escape(str(number))}" for name, number in record["versions"].items())
        return (
            '<footer class="bottom"><p>Every number on these pages was computed, read from a record, or read off a '
            f'paper, and says which. The same data for machines: <a href="{root}atlas.json">atlas.json</a>. How to '
            f'read the badges: <a href="{root}about.html">about this atlas</a>.</p>'
            f"<p>Made by {code(str(record['command']))} at {escape(str(record['made_at']))} in "
            f"{record['seconds']:.0f} s with {versions}; seed {record['seed']}.</p></footer>"
        )


def _menu(name: str, folded: Sequence[Link], root: str, here: Sequence[str]) -> str:
    """One entry of the navigation: a link, or a menu of links that opens on click, also without JavaScript."""
    items = "".join(
        f'<li><a href="{root}{escape(link.path)}"{_current(link.path, here)}>{escape(link.title)}</a></li>'
        for link in folded
    )
    if not folded[0].menu:
        return items
    inside = ' class="current"' if any(link.path in here for link in folded) else ""
    return f'<li><details name="menu"><summary{inside}>{escape(name)}</summary><ul>{items}</ul></details></li>'


def _current(path: str, here: Sequence[str]) -> str:
    return ' aria-current="page"' if path == here[0] else ' aria-current="true"' if path in here[1:] else ""


def _document(page: Page, body: str) -> str:
    root = page.root
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f'<meta name="description" content="{escape(page.lead, quote=True)}">'
        f"<title>{escape(page.title)} · Separatrix</title>"
        f'<link rel="stylesheet" href="{root}assets/site.css"><link rel="icon" href="{root}assets/mark.svg">'
        f'<script defer src="{root}assets/site.js"></script></head>'
        f"<body>{body}</body></html>\n"
    )
