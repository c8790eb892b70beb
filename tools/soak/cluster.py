"""A real Ray cluster of two nodes on this machine, in a process of its own: ``python -m tools.soak.cluster``.

It prints its address; a line on its standard input makes it kill the second node without warning and start another. It
ends when its input does.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ray.cluster_utils import Cluster

NODE: dict[str, Any] = {"num_cpus": 1, "object_store_memory": 80 << 20}


class Nodes:
    """The cluster as the soak sees it: an address, and a node that can be killed."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process
        self.address = self._told()["address"]
        self.killed = 0

    def kill_one(self) -> None:
        """Kill the second node and start another."""
        assert self.process.stdin is not None
        self.process.stdin.write("kill\n")
        self.process.stdin.flush()
        self.killed = self._told()["killed"]

    def _told(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith("{"):
                return json.loads(line)
        raise RuntimeError("the Ray cluster of the soak has ended")


@contextmanager
def running_cluster() -> Iterator[Nodes]:
    """A cluster until the end of the block."""
    command = [sys.executable, "-m", "tools.soak.cluster"]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, text=True, start_new_session=True, **pipes) as process:
        yield Nodes(process)
        assert process.stdin is not None
        process.stdin.close()


@contextmanager
def two_nodes() -> "Iterator[tuple[Cluster, Any]]":
    """A cluster and its second node; all files of Ray are in a folder that is gone afterwards.

    Also the file that names the current cluster, for which Ray takes /tmp/ray to exist, and which would be that of a
    cluster that somebody uses.
    """
    with tempfile.TemporaryDirectory(prefix="ray-", ignore_cleanup_errors=True) as folder:
        # Sockets need a short path; a busy machine starts the server late. Ray reads these when it is imported.
        os.environ.update(RAY_TMPDIR=folder, RAY_gcs_server_port_wait_time_s="600")
        Path(folder, "ray").mkdir()
        from ray.cluster_utils import Cluster

        cluster = Cluster(initialize_head=True, head_node_args={**NODE, "include_dashboard": False})
        try:
            yield cluster, cluster.add_node(**NODE)
        finally:
            cluster.shutdown()


def main() -> None:
    """Start, kill when asked, end."""
    with two_nodes() as (cluster, node):
        killed = 0
        print(json.dumps({"address": cluster.address}), flush=True)
        for _ in sys.stdin:
            cluster.remove_node(node, allow_graceful=False)
            node, killed = cluster.add_node(**NODE), killed + 1
            print(json.dumps({"killed": killed}), flush=True)


if __name__ == "__main__":
    main()
