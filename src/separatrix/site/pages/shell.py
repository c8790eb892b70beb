"""The frame of every page: head, header with navigation, main part, footer with how the site was made.

Pages are files side by side with ``assets/site.css`` and ``assets/site.js``; all addresses are relative, so that the
folder opens from a disk, without a server and without a network. Scripts only add: everything is readable without.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from separatrix.site.html import piece, render
from separatrix.site.pages.text import VERSION_SLOT, figure_slot, files_slot
from separatrix.site.section import Figure


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

    @property
    def above(self) -> list[str]:
        """The paths of the pages above this one."""
        return [path for _, path in self.parents]


class Link(NamedTuple):
    """A link of the navigation; links that name the same menu are folded into it."""

    title: str
    path: str
    menu: str = ""


@dataclass(frozen=True)
class Frame:
    """What all pages share: the links of the navigation and the record of the build."""

    links: Sequence[Link]
    provenance: Mapping[str, Any]

    def render(self, page: Page, figures: Mapping[str, Figure]) -> str:
        """Return the whole page; slots of figures are filled, figures that are not there leave nothing."""
        from markupsafe import Markup

        main = page.main
        for name, figure in figures.items():
            if (slot := str(figure_slot(name))) in main:
                main = main.replace(slot, _drawn(figure, page.root))
            if (slot := str(files_slot(name))) in main:
                files = piece("figure_files", name, page.root)
                main = main.replace(slot, f'<p class="quiet">The whole figure, for a paper: {files}</p>')
        menus: dict[str, list[Link]] = {}
        for link in self.links:
            menus.setdefault(link.menu or link.title, []).append(link)
        whole = render("base.html", page=page, menus=menus, made=self.provenance, main=Markup(main))
        return whole.replace(VERSION_SLOT, str(self.provenance["versions"]["separatrix"])) + "\n"


def _drawn(figure: Figure, root: str) -> str:
    from markupsafe import Markup

    drawn = figure.inline or figure.svg
    size = re.search(r'viewBox="0 0 ([\d.]+)', drawn)
    return piece("drawn_figure", figure, Markup(drawn), Markup(figure.narrow), size and round(float(size[1])), root)
