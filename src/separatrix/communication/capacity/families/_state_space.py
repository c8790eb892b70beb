"""State sizes of Mamba and Mamba-2 blocks, shared by pure stacks and hybrids.

A causal convolution of kernel k needs its last k − 1 inputs. The caches of ``mamba_ssm`` and ``transformers`` hold k
of them, but the oldest is dropped before the next use, so it carries nothing.
"""

from separatrix.communication.capacity.layers import LayerDescription, StatePart, recurrent


def convolution(channels: int, kernel: int) -> StatePart:
    """What a causal convolution remembers: its last k − 1 inputs.

    >>> convolution(1536, 4).numbers
    4608
    """
    return StatePart("convolution", channels * (kernel - 1), f"{channels} × {kernel - 1}", running=False)


def mamba(width: int, inner: int, state: int, kernel: int, count: int) -> LayerDescription:
    """Mamba (Gu and Dao 2023, Algorithm 2): h is inner × state; the convolution runs over the inner channels.

    >>> mamba(768, 1536, 16, 4, 24).state_numbers
    29184
    """
    return recurrent(
        "mamba",
        width,
        StatePart("state space", inner * state, f"{inner} × {state}"),
        convolution(inner, kernel),
        count=count,
    )


def mamba2(
    width: int, heads: int, head_width: int, state: int, groups: int, kernel: int, count: int
) -> LayerDescription:
    """Mamba-2 (Dao and Gu 2024): h is heads × head width × state; the convolution also runs over B and C of each group.

    >>> mamba2(2560, 80, 64, 128, 1, 4, 64).state_numbers
    671488
    """
    held = StatePart("state space", heads * head_width * state, f"{heads} × {head_width} × {state}")
    channels = heads * head_width + 2 * groups * state
    return recurrent("mamba2", width, held, convolution(channels, kernel), heads=heads, count=count)
