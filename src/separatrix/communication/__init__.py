"""Lower bounds that run: communication problems, protocols with counted bits, reductions, bounds.

>>> from separatrix.communication import communication_matrix, disjointness, partition_bound
>>> partition_bound(communication_matrix(disjointness(5))).bits
6
"""

from separatrix.communication.classics import disjointness, equality, greater_than, index
from separatrix.communication.fooling import FoolingSet, verify_by_uniqueness, verify_fooling_set
from separatrix.communication.fooling_search import largest_found
from separatrix.communication.matrix import CommunicationMatrix, communication_matrix, pack
from separatrix.communication.partition import Partition, cut, odd_even, of_positions, parse_partition
from separatrix.communication.partition_bounds import PartitionBound, partition_bound
from separatrix.communication.problem import CommunicationProblem, from_function, from_task
from separatrix.communication.rank import RationalRank, gf2_rank, rational_rank, verify_minor
from separatrix.communication.rows import count_distinct_rows, one_way_bits

__all__ = [
    "CommunicationMatrix",
    "CommunicationProblem",
    "FoolingSet",
    "Partition",
    "PartitionBound",
    "RationalRank",
    "communication_matrix",
    "count_distinct_rows",
    "cut",
    "disjointness",
    "equality",
    "from_function",
    "from_task",
    "gf2_rank",
    "greater_than",
    "index",
    "largest_found",
    "odd_even",
    "of_positions",
    "one_way_bits",
    "pack",
    "parse_partition",
    "partition_bound",
    "rational_rank",
    "verify_by_uniqueness",
    "verify_fooling_set",
    "verify_minor",
]
