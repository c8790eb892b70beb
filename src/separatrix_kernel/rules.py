"""The rules by which a claim about all inputs is accepted. Each refuses, or the claim is true.

RULE (enumeration). Every input is run.

RULE (automaton). A recurrent network and the specification's automaton read the same tokens. Let R_t be the set of
pairs (network state, automaton state) that some input of t tokens reaches: R_0 is one pair, and R_{t+1} consists of the
successors of R_t under the tokens of position t. If the readout of the first agrees with the answer of the second on
all of R_N, every input is answered rightly. Within a run of positions that hold the same tokens R_{t+1} is a function
of R_t, so once a set comes again the sequence is periodic and need not be walked to its end.

Two more rules have files of their own, which are loaded where a proof names them: ``layers``, and ``prefixes`` for
networks that flag errors. Float32 has its own rule (``running``).
"""

from typing import Any

from separatrix_kernel.evaluation import decode, evaluate, read, step
from separatrix_kernel.network import Network, Recurrent, Transformer
from separatrix_kernel.numbers import Numbers
from separatrix_kernel.reading import Budget, RefusedError, fields, require, text
from separatrix_kernel.specification import Answers, Automaton, Inputs

MOST_INPUTS = 1 << 16
MOST_SCORES = 1 << 26
MOST_PAIRS = 1 << 18
MOST_STEPS = 1 << 24


def check_fit(network: Network, inputs: Inputs, answers: Answers) -> None:
    """Refuse unless the network reads these inputs and answers where the claim asks."""
    held = answers.held(inputs)
    given = len(held.tokens)
    require(network.reads_graphs == answers.on_graphs, "only one of the network and the claim is about graphs")
    read, stated = network.cell_size, answers.cell_size
    require(read == stated, f"the network reads cells of {read} numbers, those of the claim have {stated}")
    require(network.positions == given, f"the network reads {network.positions} positions, the inputs have {given}")
    most = max(tokens.stop for _, tokens in held.runs)
    require(most <= network.vocabulary, f"tokens go up to {most - 1}, beyond the network's vocabulary")
    last = network.readout.at == "last"
    rounded = len(network.readout.matrix.rows) if network.readout.decoding == "round" else 0
    require(rounded == answers.rounded, "the readout is not rounded to as many whole numbers as an answer of the claim")
    require(not network.duals or rounded > 0, "the network reads sets of positions, the claim has none")
    require(last or answers.everywhere, "the network is read at every position; the claim is about the last one")
    require(not last or answers.asked == 1, "the network is read at the last position; the claim is about several")


class Claim:
    """What is to be shown: this network answers each of these inputs with the right answer in this arithmetic."""

    special: str
    """The file of the kernel that was needed as well, if any."""

    def __init__(self, network: Network, inputs: Inputs, answers: Answers, numbers: Numbers) -> None:
        check_fit(network, inputs, answers)
        self.network, self.inputs, self.answers, self.numbers = network, inputs, answers, numbers
        self.special = answers.file

    def wrong(self, tokens: tuple[int, ...]) -> bool:
        """Whether the network answers one input wrongly, by running it."""
        spec = self.answers
        found = evaluate(self.network, tokens, self.numbers, spec.asked, spec.cells(tokens), spec.stride)
        return found != spec.right(tokens)

    def prove(self, proof: Any) -> str:
        """Apply the proof's rule; its name. Refuses where an obligation fails."""
        require(isinstance(proof, dict), "the proof is not an object")
        rule = text(proof.get("rule"), "the rule", ["enumeration", "automaton", "layers", "prefixes"])
        if rule == "prefixes":
            found = fields(proof, "the proof", ["rule", "age"])
            if not isinstance(self.network, Transformer) or not isinstance(self.answers, Automaton):
                raise RefusedError("the rule is about networks with layers and an automaton")
            from separatrix_kernel.prefixes import Prefixes

            Prefixes(self.network, self.inputs, self.answers, found["age"], self.numbers).check()
        elif rule == "layers":
            found = fields(proof, "the proof", ["rule", "statements"])
            require(isinstance(self.network, Transformer), "the rule is about networks with layers")
            from separatrix_kernel.layers import Layers

            self.special = Layers(self, found["statements"]).check()
        else:
            fields(proof, "the proof", ["rule"])
            (self._enumerate if rule == "enumeration" else self._automaton)()
        return rule

    def _enumerate(self) -> None:
        require(self.inputs.at_most(MOST_INPUTS), f"there are more than {MOST_INPUTS} inputs, too many to run each")
        scores = Budget(MOST_SCORES, "pairs of positions in all inputs")
        for tokens in self.inputs.all():
            scores.spend(len(tokens) ** 2)
            wrong = self.answers.admits(tokens) and self.wrong(tokens)
            require(not wrong, f"the input {' '.join(map(str, tokens))} is answered wrongly")

    def _automaton(self) -> None:
        network, automaton, numbers = self.network, self.answers, self.numbers
        if not isinstance(network, Recurrent) or not isinstance(automaton, Automaton):
            raise RefusedError("the rule is about a recurrent network and an automaton")
        steps: dict[tuple[tuple[int, ...], int], tuple[int, ...]] = {}
        pairs = frozenset([(tuple(network.initial), automaton.start)])
        walked = Budget(MOST_STEPS, "steps of pairs of states")
        for count, tokens in self.inputs.runs:
            history, place = [pairs], {pairs: 0}
            for number in range(1, count + 1):
                walked.spend(len(pairs) * len(tokens))
                after = set[tuple[tuple[int, ...], int]]()
                for state, other in pairs:
                    for token in tokens:
                        if (state, token) not in steps:
                            steps[state, token] = tuple(step(network, list(state), token, numbers))
                            require(len(steps) <= MOST_PAIRS, f"there are more than {MOST_PAIRS} steps of states")
                        after.add((steps[state, token], automaton.steps[other][token]))
                pairs = frozenset(after)
                if pairs in place:
                    first = place[pairs]
                    pairs = history[first + (count - first) % (number - first)]
                    break
                history.append(pairs)
                place[pairs] = number
        for state, other in pairs:
            answer = decode(network.readout, read(network.readout, list(state), numbers), numbers)
            right = automaton.answers[other]
            require(answer == right, f"a state is read as {answer} where the automaton answers {right}")
