"""Of what a container may take, a reader may take a quarter, whoever says how much that is."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from onyx_jupyter.ingest.memory_limit import MAX_BYTES, MIN_BYTES, bound_bytes

GB = 1_000_000_000
V2 = {"proc/self/cgroup": "0::/pod/server\n"}
V1 = {"proc/self/cgroup": "12:cpu,cpuacct:/a\n8:memory:/docker/abc\n1:name=systemd:/\n"}


@pytest.mark.parametrize(
    ("environment", "files", "bound"),
    [
        ({}, {}, MAX_BYTES),
        ({"MEM_LIMIT": "3000000000"}, {}, 3 * GB // 4),
        ({"MEM_LIMIT": "1000000000"}, {}, MIN_BYTES),
        ({"MEM_LIMIT": "128000000"}, {}, MIN_BYTES),
        ({"MEM_LIMIT": "4096"}, {}, MAX_BYTES),
        ({"MEM_LIMIT": "100000000"}, {}, MAX_BYTES),
        ({"MEM_LIMIT": "64000000000"}, {}, MAX_BYTES),
        ({"MEM_LIMIT": "0"}, {}, MAX_BYTES),
        ({"MEM_LIMIT": "2G"}, {}, MAX_BYTES),
        ({}, {"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": f"{4 * GB}\n"}, GB),
        ({}, {**V2, "sys/fs/cgroup/pod/server/memory.max": "max\n"}, MAX_BYTES),
        ({}, {**V2, "sys/fs/cgroup/pod/memory.max": f"{3 * GB}\n"}, 3 * GB // 4),
        ({"MEM_LIMIT": f"{8 * GB}"}, {**V2, "sys/fs/cgroup/pod/server/memory.max": f"{4 * GB}\n"}, GB),
        ({}, {**V1, "sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes": f"{4 * GB}\n"}, GB),
        ({}, {**V1, "sys/fs/cgroup/memory/memory.limit_in_bytes": f"{3 * GB}\n"}, 3 * GB // 4),
        ({}, {**V1, "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"}, MAX_BYTES),
        ({}, {"proc/self/cgroup": "what is this\n"}, MAX_BYTES),
    ],
)
def test_limit_is_a_quarter_of_smallest_memory_limit(
    environment: Mapping[str, str], files: Mapping[str, str], bound: int, tmp_path: Path
) -> None:
    for name, text in files.items():
        place = tmp_path / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    assert bound_bytes(environment, tmp_path) == bound
