"""How docstrings become pages: roles such as ``:class:`Task``` are shown as code, doctests as blocks.

An extension of griffe, which reads the sources for ``mkdocstrings``; named in ``mkdocs.yml``.
"""

import re
from typing import Any

import griffe

ROLE = re.compile(r":(?:class|func|meth|mod|attr|data|exc):`~?\.?([^`]+)`")
DOCTEST = re.compile(r"(?:^|(?<=\n))(?P<indent>[ ]*)>>> .*?(?=\n[ ]*\n|\Z)", re.DOTALL)


def shown(text: str) -> str:
    """A docstring as Markdown.

    >>> print(shown(":func:`f` adds.\\n\\n>>> f(1, 2)\\n3"))
    `f` adds.
    <BLANKLINE>
    ```pycon
    >>> f(1, 2)
    3
    ```
    """

    def fenced(found: re.Match[str]) -> str:
        indent = found["indent"]
        return f"{indent}```pycon\n{found[0]}\n{indent}```"

    return DOCTEST.sub(fenced, ROLE.sub(r"`\1`", text))


class SiteDocstrings(griffe.Extension):
    """Rewrites every docstring once, as it is read."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Called for each module, class, function and attribute."""
        if obj.docstring is not None:
            obj.docstring.value = shown(obj.docstring.value)
