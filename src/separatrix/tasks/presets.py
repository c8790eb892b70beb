"""Tasks with the settings of a published benchmark, by ``TASK:PRESET``; they are not entries of the catalog."""

from collections.abc import Mapping
from types import MappingProxyType

from separatrix.tasks.problems._zoology import ZoologyRecall
from separatrix.tasks.task import Task

PRESETS: Mapping[str, Task] = MappingProxyType({"mqar:zoology": ZoologyRecall()})
"""All presets by their names."""
