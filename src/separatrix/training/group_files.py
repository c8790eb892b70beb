"""What a group of runs leaves on the disk next to the store, and who may write it.

``checkpoints/GROUP.safetensors`` with the one before it as ``….previous``, used when the newer one is damaged;
``weights/GROUP-STEP.safetensors`` of the runs that ended at that step; ``snapshots/…`` of the runs that wanted their
weights kept there; ``locks/RUN.lock``, empty files whose locks the system lets go when a process dies.
"""

import fcntl
import os
from collections.abc import Callable, Collection, Iterable
from contextlib import ExitStack
from pathlib import Path

from separatrix.errors import SeparatrixError
from separatrix.files import write_atomically
from separatrix.reading import read_tensors

WEIGHTS, SNAPSHOTS, CHECKPOINTS, LOCKS = "weights", "snapshots", "checkpoints", "locks"
LARGEST_CHECKPOINT = 256 << 30


class GroupFiles:
    """The folder next to a store; ``said`` hears of damaged checkpoints."""

    def __init__(self, folder: Path, said: Callable[[str], None]) -> None:
        self.folder, self.said = folder, said

    def locked(self, runs: Iterable[str]) -> ExitStack | None:
        """Return the locks of all these runs until it is closed, or None when another process has one of them."""
        folder = self.folder / LOCKS
        folder.mkdir(parents=True, exist_ok=True)
        with ExitStack() as held:
            # In order of names: of two processes that want overlapping runs one gets them all.
            for run in sorted(runs):
                # Never through a link, and without waiting at a pipe, should one lie there.
                flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
                handle = held.enter_context(os.fdopen(os.open(folder / f"{run}.lock", flags, 0o666), "rb"))
                try:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    return None
            return held.pop_all()

    def keep(self, kind: str, group: str, step: int, weights: bytes) -> str:
        """Write weights; returns the file's name as records hold it."""
        name = f"{kind}/{group}-{step}.safetensors"
        write_atomically(self.folder / name, weights)
        return name

    def save(self, group: str, content: bytes) -> None:
        """Write a checkpoint; the one before it is kept."""
        path = self._newest(group)
        if path.exists():
            path.replace(path.with_suffix(".previous"))
        write_atomically(path, content)

    def checkpoint(self, group: str, needed: Collection[str]) -> bytes | None:
        """Return the newest checkpoint that is whole and in which the ``needed`` runs are still in training."""
        from separatrix.training.checkpoints import read_checkpoint  # torch, which those who only list files do without

        newest = self._newest(group)
        for path in (newest, newest.with_suffix(".previous")):
            if path.is_dir() and not path.is_symlink():
                raise SeparatrixError(f"{path} is a folder where a checkpoint belongs; move it away")
            if not path.exists() and not path.is_symlink():
                continue
            try:
                content = read_tensors(path, LARGEST_CHECKPOINT, "it is not a checkpoint")
                found = read_checkpoint(content, group)
            except SeparatrixError as error:
                self.said(f"{path}: {error}; an earlier state is used")
                continue
            if set(needed) <= set(found.runs):
                return content
            self.said(f"{path}: its results are not in this store; an earlier state is used")
        return None

    def remove_checkpoints(self, group: str) -> None:
        """Remove the checkpoints of a group that is done, or is to start anew."""
        for path in (self._newest(group), self._newest(group).with_suffix(".previous")):
            path.unlink(missing_ok=True)

    def tidy(self, group: str) -> None:
        """Remove what a process that was killed had only begun to write; only by who holds the group's locks."""
        for kind in (WEIGHTS, SNAPSHOTS, CHECKPOINTS):
            for path in (self.folder / kind).glob(f".{group}*.partial"):
                path.unlink(missing_ok=True)

    def _newest(self, group: str) -> Path:
        return self.folder / CHECKPOINTS / f"{group}.safetensors"
