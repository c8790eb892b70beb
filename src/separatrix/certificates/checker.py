"""The independent checker: from a weight file and a claim to a verdict about every input.

It shares no code with the constructions. What it relies on is the arithmetic room, the networks' data and evaluation,
and the tasks. Methods are tried in order until one proves the claim or finds it false; each is a file of ``methods/``.
One of them asks the kernel, the others are quicker or cover what the kernel does not.
"""

from functools import cache
from importlib import import_module

from separatrix.catalog import Catalog, discover
from separatrix.certificates.refutations import (
    LONGEST_SAMPLE,
    failing_sample,
    first_failure,
    random_inputs,
    refutation,
    undecided,
)
from separatrix.certificates.verdict import Claim, Method, OtherClaimError, SuspicionError, Verdict
from separatrix.errors import SeparatrixError
from separatrix.networks import AnyNetwork, Network


@cache
def methods() -> Catalog[Method]:
    """All methods by name. Packages add none: a method decides what is valid.

    >>> methods()["enumeration"].order
    90
    """
    folder = import_module("separatrix.certificates.methods")
    return discover("method", folder, "METHOD", Method, closed=True)  # type: ignore[type-abstract]


def check(network: AnyNetwork, claim: Claim, method: str | None = None) -> Verdict:
    """Decide the claim for every input of its length, with one method or with the first that can.

    >>> from separatrix.constructions import constructions
    >>> built = constructions()["index-lookup"].build(8)
    >>> claim = Claim(built.task, built.length, built.arithmetic)
    >>> check(built.network, claim).inputs_covered
    '64^8*8'
    """
    if method is not None:
        return apply(methods()[method], network, claim)
    verdicts, tried = list[Verdict](), set[bytes]()
    for each in sorted(methods().values(), key=lambda one: (one.order, one.name)):
        verdicts.append(apply(each, network, claim, tried))
        if verdicts[-1].valid or verdicts[-1].refuted:
            return verdicts[-1]
    # A network too long to be run many times is left undecided rather than waited for.
    if network.positions <= LONGEST_SAMPLE and misfit(network, claim) is None:
        found = first_failure(network, claim, random_inputs(claim), tried)
        if found is not None:
            return Verdict(False, True, "a random input is answered wrongly", "sampling", counterexample=found)
    return undecided(verdicts)


def apply(method: Method, network: AnyNetwork, claim: Claim, tried: set[bytes] | None = None) -> Verdict:
    """One method's verdict; a suspicion becomes a refutation only when an input that was run fails.

    Inputs in ``tried`` are not run again, and those that are run are put there.

    >>> from separatrix.constructions import constructions
    >>> built = constructions()["index-lookup"].build(8)
    >>> claim = Claim(built.task, built.length, built.arithmetic)
    >>> apply(methods()["kernel"], built.network, claim).trust
    'kernel'
    """
    reason, concerned = misfit(network, claim), False
    if not isinstance(network, method.kinds):
        reason = f"the method does not cover a {type(network).__name__}"
    elif not method.extensions and _extended(network):
        reason = "the method does not cover dual certificates and this decoding"
    else:
        concerned = True
    if reason is not None:
        return Verdict(False, False, reason, method.name, concerned=concerned)
    try:
        covered = method.prove(network, claim)
    except SuspicionError as suspicion:
        found = refutation(method.name, network, claim, suspicion, tried)
        return Verdict(False, found is not None, str(suspicion), method.name, counterexample=found, suspected=True)
    except SeparatrixError as refusal:
        concerned = not isinstance(refusal, OtherClaimError)
        return Verdict(False, False, str(refusal), method.name, concerned=concerned)
    except OverflowError:
        return Verdict(False, False, "a number exceeds 64 bits, in which the method computes", method.name)
    # The last net: what a method proves is also run, on as many random inputs as cost little.
    found = failing_sample(network, claim)
    if found is not None:
        reason = "a random input is answered wrongly, though the method found nothing; please report this network"
        return Verdict(False, True, reason, method.name, counterexample=found)
    return Verdict(True, False, "every input is answered correctly", method.name, covered, trust=method.trust)


def misfit(network: AnyNetwork, claim: Claim) -> str | None:
    """Why the task's inputs are not the network's, or None.

    >>> from separatrix.constructions import constructions
    >>> built = constructions()["index-lookup"].build(8)
    >>> misfit(built.network, Claim(built.task, 9, built.arithmetic))
    'the network reads 9 positions, the task has 10'
    """
    task, length = claim.task, claim.length
    positions, features, symbols = task.positions(length), task.features(length), task.vocabulary(length).size
    if network.positions != positions:
        return f"the network reads {network.positions} positions, the task has {positions}"
    given = network.features if isinstance(network, Network) else 0
    if isinstance(network, Network) and network.reads_graphs and given in (0, positions):
        # A vertex may also read its row of the adjacency matrix as numbers of its cell.
        given = positions
    if given != features or (not features and network.vocabulary < symbols):
        return f"the network reads {given or network.vocabulary} numbers or tokens, the task has {features or symbols}"
    # Only rounded readouts are vectors; the answers of most tasks are single numbers.
    vectors = network.readout.matrix.shape[0] if network.readout.decoding == "round" else 0
    return None if vectors == task.outputs(length) else "the network's answers have another form than the task's"


def _extended(network: AnyNetwork) -> bool:
    """Whether a network has something that most methods would overlook."""
    embeds_sets = isinstance(network, Network) and bool(network.dual_parts)
    return embeds_sets or network.readout.decoding not in ("bits", "argmax", "exact")
