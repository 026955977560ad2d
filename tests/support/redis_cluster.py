"""A real Redis cluster of three nodes for tests, without replicas."""

from __future__ import annotations

import socket
import time
from pathlib import Path
from typing import Any

from tests.support.redis_server import RedisServer

_SLOTS = 16_384
_OPTIONS = ["--cluster-enabled", "yes", "--cluster-require-full-coverage", "no"]


class RedisCluster:
    """Three servers that share the slots."""

    def __init__(self, directory: Path) -> None:
        self.nodes = [_node(directory / str(number)) for number in range(3)]

    @property
    def uri(self) -> str:
        return f"redis+cluster://127.0.0.1:{self.nodes[0].port}"

    def start(self) -> None:
        """Start the servers and wait until each knows all slots."""
        import redis

        for node in self.nodes:
            node.start()
        clients: list[Any] = [redis.Redis(port=node.port) for node in self.nodes]
        for number, client in enumerate(clients):
            first, after = number * _SLOTS // 3, (number + 1) * _SLOTS // 3
            client.execute_command("CLUSTER ADDSLOTSRANGE", first, after - 1)
            client.execute_command("CLUSTER SET-CONFIG-EPOCH", number + 1)
            client.execute_command("CLUSTER MEET", "127.0.0.1", self.nodes[0].port)
        for client in clients:
            while not _is_complete(client):
                time.sleep(0.05)
            client.close()

    def stop(self) -> None:
        for node in self.nodes:
            node.stop()


def _is_complete(client: Any) -> bool:
    info = client.execute_command("CLUSTER INFO")
    state = info.get("cluster_state") if isinstance(info, dict) else info
    ranges = client.execute_command("CLUSTER SLOTS")
    return "ok" in str(state) and len(ranges) == 3


def _node(directory: Path) -> RedisServer:
    directory.mkdir()
    timeout = ["--cluster-node-timeout", "1000"]
    while True:
        node = RedisServer(directory, *_OPTIONS, *timeout)
        if node.port < 55_000 and _is_free(node.port + 10_000):  # the bus of the cluster
            return node


def _is_free(port: int) -> bool:
    with socket.socket() as found:
        try:
            found.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True
