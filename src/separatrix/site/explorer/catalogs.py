"""What the page offers, as plain data: constructions, codes, limits, words, errata; formulas are HTML."""

from typing import Any

from separatrix._version import __version__
from separatrix.arithmetic import families
from separatrix.communication import VERSIONS
from separatrix.constructions import constructions
from separatrix.networks import SCORINGS
from separatrix.site.explorer.limits import Limits
from separatrix.site.explorer.words import words
from separatrix.site.pages.formulas import prose
from separatrix.table import errata
from separatrix.tasks import Task, tasks

OWN_ADDRESSES = ("digits", "circle", "circles:2", "circles:3", "circles:4")
"""Addresses that are not sign codes of a family (see ``constructions.pieces``)."""


def catalog(limits: Limits) -> dict[str, Any]:
    """Return everything that the page offers."""
    listed = [
        {
            "name": each.name,
            "title": each.title,
            "theorem": each.theorem,
            "statement": prose(each.statement),
            "task": each.task_name,
            "variants": list(each.variants),
            "deviations": [prose(text) for text in each.deviations],
            "minimum_length": max(each.minimum_length, tasks()[each.task_name].minimum_length),
            "maximum_length": min(limits.max_length, tasks()[each.task_name].maximum_length),
            "task_maximum_length": tasks()[each.task_name].maximum_length,
            "length_step": tasks()[each.task_name].length_step,
            "parameters": _parameters(tasks()[each.task_name]),
        }
        for each in constructions().values()
    ]
    return {
        "version": __version__,
        "constructions": listed,
        "codes": [*families(), *OWN_ADDRESSES],
        "attentions": list(SCORINGS),
        "protocol_versions": [{"name": each.name, "about": each.about} for each in VERSIONS.values()],
        "limits": limits.as_json(),
        "words": words(),
        "errata": [
            {
                "name": each.name,
                "source": each.source,
                "title": each.title,
                "claim": prose(each.claim),
                "repair": prose(each.repair),
            }
            for each in sorted(errata().values(), key=lambda one: one.number)
        ],
    }


def _parameters(task: Task) -> list[dict[str, str]]:
    return [{"name": name, "default": str(value)} for name, value in task.parameters().items()]
