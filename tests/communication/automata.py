"""Random automata over two symbols, the inputs of several tests."""

import numpy
from automata.fa.dfa import DFA


def random_automaton(seed, states):
    """Moves (states, 2), which states accept, and the smallest automaton of the same language."""
    generator = numpy.random.default_rng(seed)
    moves, accepting = generator.integers(0, states, (states, 2)), generator.integers(0, 2, states)
    automaton = DFA(
        states=set(range(states)),
        input_symbols={"0", "1"},
        transitions={state: {"0": int(moves[state, 0]), "1": int(moves[state, 1])} for state in range(states)},
        initial_state=0,
        final_states={state for state in range(states) if accepting[state]},
    )
    return moves, accepting, automaton.minify()
