"""The experiments of the papers, one file of ``papers`` each."""

from functools import cache

from separatrix.catalog import Catalog, discover
from separatrix.training.experiments import papers
from separatrix.training.experiments.experiment import Experiment


@cache
def experiments() -> Catalog[Experiment]:
    """All experiments by name.

    >>> experiments()["figure3"].source
    'BHBK24 Figure 3'
    """
    return discover("experiment", papers, "EXPERIMENT", Experiment)
