"""A script for the test on Ray: a real cluster of two nodes on this machine, one of which is killed in mid-sweep.

A process of its own, so that Ray's threads, warnings and leftovers stay out of the test runner.

    python -m tests.training.cluster SWEEP.toml STORE
"""

import io
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from separatrix.cli.app import run
from separatrix.errors import SeparatrixError
from separatrix.training.driver import Driver
from separatrix.training.events import Event, Finished, Saved
from separatrix.training.executors.ray import RayExecutor
from separatrix.training.grouping import Group
from separatrix.training.records import Records
from separatrix.training.sweep_file import read_sweep
from tests.training.cases import ENVIRONMENT, Listener, drive, tiny
from tests.training.slow import VARIABLE

if TYPE_CHECKING:
    from ray.cluster_utils import Cluster


NODE: dict[str, Any] = {"num_cpus": 1, "object_store_memory": 80 << 20}
HANGING = 600
"""Seconds after which Ray may take a part of itself to be lost; nothing takes as long, however busy the machine."""
PATIENCE = {
    "gcs_server_port_wait_time_s": HANGING,
    "gcs_server_request_timeout_seconds": HANGING,
    "worker_register_timeout_seconds": HANGING,
    "agent_register_timeout_ms": 1000 * HANGING,
    "health_check_timeout_ms": 1000 * HANGING,  # a node that is killed refuses at once
    "memory_monitor_refresh_ms": 0,  # which kills workers because of what others take
    "local_fs_capacity_threshold": 1,
}
"""Ray's own settings: neither a busy machine nor one with a full memory or disk loses a node or a worker."""


@contextmanager
def two_nodes() -> "Iterator[tuple[Cluster, Any]]":
    """A cluster and its second node; all files of Ray are in a folder that is gone afterwards.

    Also the file that names the current cluster, for which Ray takes /tmp/ray to exist, and which would be that of a
    cluster that somebody uses.
    """
    with tempfile.TemporaryDirectory(prefix="ray-", ignore_cleanup_errors=True) as folder:
        # Sockets need a short path. Ray reads these when it is imported.
        os.environ.update(RAY_TMPDIR=folder, **{f"RAY_{name}": str(value) for name, value in PATIENCE.items()})
        Path(folder, "ray").mkdir()
        from ray._private import services
        from ray.cluster_utils import Cluster

        services.get_node = patient(services.get_node)  # which a new node asks for half a minute
        cluster = Cluster()
        try:
            cluster.add_node(wait=False, include_dashboard=False, **NODE)
            node = cluster.add_node(wait=False, **NODE)
            cluster.wait_for_nodes(HANGING)
            yield cluster, node
        finally:
            cluster.shutdown()


def patient(get_node: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, which waits for a node that is not there yet."""

    def waiting(*arguments: Any) -> Any:
        until = time.monotonic() + HANGING
        while True:
            try:
                return get_node(*arguments)
            except RuntimeError:
                if time.monotonic() > until:
                    raise
            time.sleep(0.1)

    return waiting


def say(**facts: Any) -> None:
    sys.stdout.write(f"{json.dumps(facts)}\n")
    sys.stdout.flush()


class NodeKiller(Listener):
    """Kills a node once two groups that have not ended have saved something: both nodes train, slowly until then."""

    def __init__(self, cluster: "Cluster", node: Any) -> None:
        super().__init__()
        self.cluster, self.node = cluster, node
        self.killed = False
        self.saved, self.ended = set[str](), set[str]()

    def happened(self, group: Group, event: Event) -> None:
        """Keep count of who is in training."""
        super().happened(group, event)
        if isinstance(event, Saved):
            self.saved.add(group.name)
        elif isinstance(event, Finished):
            self.ended.update(each.run for each in event.results)
            if self.ended.issuperset(spec.name for spec in group.specs):
                self.saved.discard(group.name)
        if len(self.saved) >= 2 and not self.killed:
            self.killed = True
            self.cluster.remove_node(self.node, allow_graceful=False)
            Path(os.environ[VARIABLE]).unlink()


def swept(address: str, file: Path, store: Path, heard: Listener, stopped: Callable[[], bool]) -> bool:
    """Train a sweep on the cluster; whether it came to its end."""
    sweep = read_sweep(file)
    with Records(store) as records:
        executor = RayExecutor(address, save_every_seconds=0.05, stopped=stopped)
        return Driver(records, executor, ENVIRONMENT, heard, stopped=stopped).run(sweep.groups(sweep.cells()))


def main(file: Path, store: Path) -> None:
    """Stop a sweep, go on with it, kill a node on the way."""
    torch.set_num_threads(1)
    with two_nodes() as (cluster, node):
        heard = Listener()
        done = swept(cluster.address, file, store, heard, lambda: len(heard.of(Saved)) >= 4)
        say(happened="stopped", done=done, saved=len(heard.of(Saved)))
        killer = NodeKiller(cluster, node)
        done = swept(cluster.address, file, store, killer, lambda: False)
        say(happened="swept", done=done, killed=killer.killed, messages=killer.messages)
        try:
            drive(store, [Group((tiny(architecture="Transfomer-(1,8)"),))], RayExecutor(cluster.address))
        except SeparatrixError as error:
            say(happened="refused", reason=str(error))
        words = ["train", "majority", "TF-(1,8)", "--length", "3", "--lr", "0.01", "--steps", "20", "--json"]
        with redirect_stdout(io.StringIO()) as out:
            code = run([*words, "--store", f"{store}.other", "--executor", "ray", "--address", cluster.address])
        say(happened="trained", code=code, run=json.loads(out.getvalue())["runs"][0])


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
