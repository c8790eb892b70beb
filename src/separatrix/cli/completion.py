"""What the shell offers when Tab is pressed: names from the catalogs that begin so. Catalogs load only then."""


def complete_task(incomplete: str) -> list[tuple[str, str]]:
    """Return the names of tasks, with their titles.

    >>> complete_task("dy")
    [('dyck', 'Bounded Dyck languages')]
    """
    from separatrix.tasks import tasks

    return [(name, task.title) for name, task in tasks().items() if name.startswith(incomplete)]


def complete_construction(incomplete: str) -> list[tuple[str, str]]:
    """Return the names of constructions, with their titles.

    >>> complete_construction("index")
    [('index-lookup', 'Index lookup, one layer')]
    """
    from separatrix.constructions import constructions

    return [(name, each.title) for name, each in constructions().items() if name.startswith(incomplete)]


def complete_experiment(incomplete: str) -> list[tuple[str, str]]:
    """Return the names of experiments, with their titles; from their table, because the catalog takes longer.

    >>> complete_experiment("figure2-l")
    [('figure2-left', 'Index lookup: accuracy against length')]
    """
    from separatrix.catalog_names import names_in_table

    found = names_in_table("training/experiments/experiments.toml", ("name", "title"))
    return [(each["name"], each["title"]) for each in found if each["name"].startswith(incomplete)]


def complete_figure(incomplete: str) -> list[tuple[str, str]]:
    """Return what can be drawn: experiments, and the one figure that no paper has.

    >>> complete_figure("state-l")
    [('state-limit', 'Learned against impossible')]
    """
    own = [("state-limit", "Learned against impossible")] if "state-limit".startswith(incomplete) else []
    return complete_experiment(incomplete) + own


def complete_family(incomplete: str) -> list[str]:
    """Return the names of families of sign codes.

    >>> complete_family("tr")
    ['trace']
    """
    from separatrix.arithmetic import families

    return [name for name in families() if name.startswith(incomplete)]


def complete_numbers(incomplete: str) -> list[str]:
    """Return the arithmetics that a model can be asked about.

    >>> complete_numbers("float3")
    ['float32']
    """
    from separatrix.bounds import NUMBERS

    return [name for name in NUMBERS if name.startswith(incomplete)]


def complete_model(incomplete: str) -> list[str]:
    """Return the classes of models that bounds speak about.

    >>> complete_model("tr")
    ['transformer-1layer', 'transformer-2layer']
    """
    from separatrix.bounds import MODELS

    return [model for model in MODELS if model.startswith(incomplete)]


def complete_preset(incomplete: str) -> list[str]:
    """Return the names of published models.

    >>> complete_preset("mamba-130")
    ['mamba-130m']
    """
    from separatrix.capacities import presets

    return [name for name in presets() if name.startswith(incomplete)]
