"""How long the secrets filter takes for ordinary text, and for text that is made to hold it up."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.figures import Figure, Group, percentile
from onyx_jupyter.security.secret_patterns import SHAPES
from onyx_jupyter.security.secret_redactor import SecretRedactor, SecretStream

CHARS = 300_000
PIECE_CHARS = 50
SHOWN = 12
LIMIT_S = 0.2
_METHOD = f"""\
Text of {CHARS:,} characters goes through a filter with every shape: at once (`apply`), and as a stream in pieces of
{PIECE_CHARS} characters. Adversarial texts are the words by which a secret begins, each repeated without end, followed
by one long run, or given a value again and again, and beginnings of secrets of several parts. Processor time, so that
other work on the machine counts little."""


def measure() -> Group:
    filtering = SecretRedactor({"correct horse battery": "benchmark"})
    ways: dict[str, Callable[[str], None]] = {
        "apply": lambda text: _apply(filtering, text),
        "stream": lambda text: _stream(filtering, text),
    }
    figures, rows = [], []
    taken = {name: {way: _seconds_per_mb(run, text) for way, run in ways.items()} for name, text in _texts()}
    for way in ways:
        figures.append(
            Figure(f"secrets filter, ordinary text, {way}", [taken["ordinary"][way]], "s/MB", LIMIT_S, digits=3)
        )
        adversarial = [seconds[way] for name, seconds in taken.items() if name != "ordinary"]
        figures.append(
            Figure(f"secrets filter, adversarial texts, {way}: median", adversarial, "s/MB", LIMIT_S, digits=3)
        )
        figures.append(
            Figure(
                f"secrets filter, adversarial texts, {way}: 95th of 100",
                [percentile(adversarial, 0.95)],
                "s/MB",
                digits=3,
            )
        )
    worst = sorted(taken, key=lambda name: -max(taken[name].values()))[:SHOWN]
    rows = [f"| `{name}` | {taken[name]['apply']:.2f} | {taken[name]['stream']:.2f} |" for name in worst]
    table = "\n".join(["| worst texts | apply, s/MB | stream, s/MB |", "| --- | --- | --- |", *rows])
    return Group("Secrets filter", _METHOD, figures, table=table)


def _texts() -> Iterator[tuple[str, str]]:
    docs = Path(__file__).parents[1] / "docs"
    yield "ordinary", _repeated("".join(path.read_text("utf-8") for path in sorted(docs.glob("*.md"))))
    for head in sorted({head for shape in SHAPES for head in shape.heads}):
        yield f"{head} repeated", _repeated(head)
        yield f"{head} and a run", f"{head}{_repeated('aA1b')}"[:CHARS]
        yield f"{head}=value repeated", _repeated(f"{head}=aA1baA1baA1baA1b ")
    yield "password and quotes", _repeated("password=\"\\'")
    yield "1token= repeated", _repeated("1token=")
    yield "parts of JWT", _repeated("eyJabcdefghijkl.eyJabcdefghij.")
    yield "URLs without an end", _repeated("://ada:secret")
    yield "keys cut off", _repeated(f"-----BEGIN PRIVATE KEY-----\n{'A' * 64}\n")
    yield "one key without an end", f"-----BEGIN PRIVATE KEY-----{_repeated(chr(10) + 'aB3d' * 16)}"[:CHARS]
    yield "quotes", _repeated("\"\\'`")


def _repeated(unit: str) -> str:
    return (unit * (CHARS // len(unit) + 1))[:CHARS]


def _apply(filtering: SecretRedactor, text: str) -> None:
    filtering.apply(text)


def _stream(filtering: SecretRedactor, text: str) -> None:
    stream = SecretStream(filtering)
    for at in range(0, len(text), PIECE_CHARS):
        stream.feed(text[at : at + PIECE_CHARS])
    stream.finish()


def _seconds_per_mb(run: Callable[[str], None], text: str) -> float:
    began = time.process_time()
    run(text)
    return (time.process_time() - began) / (len(text) / 1e6)
