"""A process that writes an index until it is killed or done: `-m tests.retrieval.index_writer FOLDER NAME ROUNDS`."""

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

from onyx_jupyter.protocols.retrieval import Source
from tests.retrieval.sources import open_index, source

SHARED = [f"shared/{number}.md" for number in range(15)]


def version(number: int) -> Sequence[Source]:
    """All shared sources as round `number` writes them: as many chunks as its last digit says, each with its number."""
    return [source(path, *[f"round {number} of {path}, {line}" for line in range(1 + number % 10)]) for path in SHARED]


async def main(folder: Path, name: str, rounds: int) -> None:
    index = open_index(folder)
    await index.checksums()
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(rounds):
        await index.put([*version(number), source(f"{name}/{number}.md", f"mine {number}")])
        if number:
            await index.remove([("main", f"{name}/{number - 1}.md")])
    await index.settled()
    await index.close()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
