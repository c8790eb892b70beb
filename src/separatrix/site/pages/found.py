"""What the pages read: the results of the sections that several pages show, each with its type."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from separatrix.site.sections.architectures import ArchitecturesResults
    from separatrix.site.sections.constructions import ConstructionsResults
    from separatrix.site.sections.frontier import FrontierResults
    from separatrix.site.sections.networks import NetworksResults
    from separatrix.site.sections.numbers import NumbersResults
    from separatrix.site.sections.protocols import ProtocolsResults
    from separatrix.site.sections.separation import SeparationResults
    from separatrix.site.sections.tasks import TasksResults
    from separatrix.site.sections.training import TrainingResults


@dataclass(frozen=True)
class Found:
    """The results of sections, by the name of the section."""

    architectures: "ArchitecturesResults"
    constructions: "ConstructionsResults"
    frontier: "FrontierResults"
    networks: "NetworksResults"
    numbers: "NumbersResults"
    protocols: "ProtocolsResults"
    separation: "SeparationResults"
    tasks: "TasksResults"
    training: "TrainingResults"

    @classmethod
    def of(cls, sections: Mapping[str, Any]) -> "Found":
        """Choose them from the results of all sections."""
        return cls(**{each.name: sections[each.name] for each in fields(cls)})
