"""Enumeration: run the network on every input. The slow, obvious method; it covers every network at small lengths."""

import numpy

from separatrix.certificates.verdict import Claim, Method, OtherClaimError, SuspicionError, UnsupportedError
from separatrix.networks import AnyNetwork, Network, RecurrentNetwork, evaluate
from separatrix.progress import tracked

LARGEST = 1 << 20
CHUNK_NUMBERS = 1 << 22


class Enumeration(Method):
    """Every input, in chunks."""

    name = "enumeration"
    order = 90
    kinds = (Network, RecurrentNetwork)
    extensions = True

    def prove(self, network: AnyNetwork, claim: Claim) -> str:
        """Compare with the task's labels on all inputs that keep its promise."""
        task, length = claim.task, claim.length
        if not task.listable(length) or task.count(length) > LARGEST:
            raise OtherClaimError(f"{task.name} has too many inputs of length {length} to try all; at most {LARGEST}")
        chunk = max(1, CHUNK_NUMBERS // (network.positions * max(network.positions, network.width)))
        seen = 0
        for examples in tracked(task.enumerate(length, chunk), "inputs", -(-task.count(length) // chunk)):
            seen += len(examples)
            if not len(examples):
                continue
            answers, asked = evaluate(network, examples.inputs, claim.arithmetic).answers, examples.read
            expected = examples.targets[:, -1:] if network.readout.at == "last" else examples.targets
            if answers.shape != expected.shape:
                raise UnsupportedError(f"answers of shape {answers.shape[1:]} are not the task's {expected.shape[1:]}")
            if network.readout.at == "last":
                # One answer, so nothing may be asked anywhere else.
                right = (answers[:, 0] == examples.targets[:, -1]) & ~asked[:, :-1].any(axis=1)
            else:
                same = answers == examples.targets
                right = ((same if same.ndim == 2 else same.all(axis=2)) | ~asked).all(axis=1)
            wrong = numpy.nonzero(~right)[0]
            if len(wrong):
                number = seen - len(examples) + int(wrong[0]) + 1
                raise SuspicionError(f"input number {number} is wrong", examples.inputs[wrong])
        return str(seen)


METHOD = Enumeration()
