"""Regular languages as the checker understands them, straight from their definitions.

Dyck-(n,k) (BHBK24 §4.1): brackets 0 … n-1 open, n … 2n-1 close; a string belongs to the language if every closing
bracket closes the last one open, at most k are open at any time, and none at the end. A state is the stack of open
brackets, or None once nothing can be repaired. Written apart from the tasks and from every construction; the tests
compare it with ``Task.solve`` on all strings of small lengths.
"""

from dataclasses import dataclass
from typing import TypeAlias

from separatrix.certificates.meanings.known import known_name
from separatrix.certificates.verdict import UnsupportedError
from separatrix.tasks import Task

Stack: TypeAlias = tuple[int, ...] | None


@dataclass(frozen=True)
class DyckLanguage:
    """Dyck-(types, depth) as an automaton whose states are stacks."""

    types: int
    depth: int

    @property
    def symbols(self) -> int:
        """How many tokens there are."""
        return 2 * self.types

    @property
    def start(self) -> Stack:
        """No bracket is open."""
        return ()

    def step(self, stack: Stack, token: int) -> Stack:
        """The stack after one more token."""
        if stack is None:
            return None
        if token < self.types:
            return (*stack, token) if len(stack) < self.depth else None
        return stack[:-1] if stack and stack[-1] == token - self.types else None

    def accepts(self, stack: Stack) -> bool:
        """Whether the string read so far is in the language."""
        return stack == ()

    def completion(self, stack: Stack, left: int) -> list[int] | None:
        """Tokens that lead from this stack into the language in exactly ``left`` steps; None if there are none."""
        if stack is None or left < len(stack) or (left - len(stack)) % 2:
            return None
        closing = [self.types + bracket for bracket in reversed(stack)]
        return closing + [0, self.types] * ((left - len(stack)) // 2)


def language_of(task: Task) -> DyckLanguage:
    """The language that a task asks about; tasks about anything else are refused."""
    if known_name(task) != "dyck":
        raise UnsupportedError(f"{task.name} is not a language that the method knows; it knows dyck")
    parameters = task.parameters()
    return DyckLanguage(int(parameters["types"]), int(parameters["depth"]))
