"""How well questions about data are answered: `python -m benchmarks.agent --model local//a/model.gguf --data DIR`."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.agent import actions, dabench, first_minute, follow_ups
from benchmarks.agent.one_shot import OneShot
from benchmarks.agent.onyx import WRITING_S, Onyx, configuration
from benchmarks.agent.report import Result, as_failures, as_json, as_table
from benchmarks.agent.task import TIME_LIMIT_S, System, Task, Turn
from benchmarks.run import machine_text
from onyx_jupyter.errors import ModelError
from onyx_jupyter.providers.local_weights import find_weights
from onyx_jupyter.storage.atomic_write import write_text_atomically

NOTEBOOK_SETS = {"first_minute": first_minute.TASKS, "follow_ups": follow_ups.TASKS, "actions": actions.TASKS}
SETS = ("dabench", *NOTEBOOK_SETS)
SYSTEMS = ("onyx", "one_shot")
_LOCAL = "local/"


def main(arguments: Sequence[str] | None = None) -> int:
    """0 if every question was asked, whatever the answers."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # else LiteLLM looks for prices on the network
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        tasks = _tasks(options)
        if not options.model.startswith(_LOCAL):
            raise ValueError(
                f"--model {options.model}: only models on this machine, local/ and the path of a .gguf file."
            )
        find_weights(options.model.removeprefix(_LOCAL))
    except (ValueError, ModelError) as error:
        parser.error(str(error))
    kept = options.keep or Path(tempfile.mkdtemp(prefix="onyx-agent-"))
    about = {"model": options.model, "system": options.system, "set": options.set}
    results: list[Result] = []
    with _system(options) as system:
        for task in tasks:
            results.append(_ask(system, task, kept / task.id))
            _tell(f"{len(results)}/{len(tasks)} {task.id}: {_word(results[-1])}, {results[-1].total('seconds'):.0f} s")
            if options.json:
                write_text_atomically(options.json, as_json(results, about))
    written = f", each message written for {options.writing_s:g} s" if options.system == "onyx" else ""
    print(f"{options.set}, {options.system}, {Path(options.model).name}{written}\n\n{as_table(results)}\n")
    print(as_failures(results))
    print(f"\nMeasured {machine_text()}\nConversations and notebooks: {kept}")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.agent", description=__doc__)
    parser.add_argument("--model", required=True, help="local/ and the absolute path of a .gguf file")
    parser.add_argument("--system", choices=SYSTEMS, default="onyx", help="one_shot: the model alone (default: onyx)")
    parser.add_argument("--set", choices=SETS, default="dabench", help="which questions (default: dabench)")
    parser.add_argument("--data", type=Path, help="folder of a DABench sample (questions.jsonl, tables/)")
    parser.add_argument("--level", type=_words, default=[], help=f"of dabench: {','.join(dabench.LEVELS)}")
    parser.add_argument("--ids", type=_words, default=[], help="only these, with commas between them")
    parser.add_argument("--limit", type=int, help="at most so many")
    parser.add_argument(
        "--time-limit-s",
        type=float,
        default=TIME_LIMIT_S,
        help="for one task (default: %(default)g)",
        metavar="SECONDS",
    )
    parser.add_argument(
        "--threads", type=int, help="of the model (default: as many as cores); 1 where others work, too"
    )
    parser.add_argument(
        "--writing-s",
        type=float,
        default=WRITING_S,
        help="how long a person writes at each message to Onyx, which may read ahead (default: %(default)g)",
        metavar="SECONDS",
    )
    parser.add_argument("--json", type=Path, help="write every answer into this file")
    parser.add_argument("--keep", type=Path, help="folder for conversations and notebooks (default: a new one)")
    return parser


def _tasks(options: argparse.Namespace) -> list[Task]:
    """Raises: ValueError."""
    if options.set == "dabench":
        if options.data is None:
            raise ValueError("--data is missing: the folder of a DABench sample (questions.jsonl, tables/).")
        tasks = dabench.read_tasks(options.data)
    elif options.system == "one_shot":
        raise ValueError(f"--set {options.set} is about notebooks, which --system one_shot does not see.")
    else:
        tasks = NOTEBOOK_SETS[options.set]
    _known("--level", options.level, [task.level for task in tasks])
    _known("--ids", options.ids, [task.id for task in tasks])
    chosen = [
        task
        for task in tasks
        if (not options.level or task.level in options.level) and (not options.ids or task.id in options.ids)
    ][: options.limit]
    if not chosen:
        raise ValueError("No question is left: --level, --ids and --limit leave out all of them.")
    return chosen


def _known(option: str, given: Sequence[str], there: Sequence[str]) -> None:
    known = list(dict.fromkeys(there))
    if unknown := [one for one in given if one not in known]:
        raise ValueError(f"{option}: there is no {', '.join(unknown)}, only {', '.join(known)}.")


@contextlib.contextmanager
def _system(options: argparse.Namespace) -> Iterator[System]:
    if options.system == "onyx":
        config = configuration(options.model, options.time_limit_s, options.threads)
        yield Onyx(config, options.time_limit_s, options.writing_s)
        return
    with OneShot(options.model, options.time_limit_s, options.threads) as one_shot:
        yield one_shot


def _ask(system: System, task: Task, kept: Path) -> Result:
    """A failure of the benchmark itself is reported as an error, and the other tasks are still asked."""
    try:
        turns = system.run(task, kept)
    except Exception as error:
        traceback.print_exc()
        turns = [Turn(task.messages[0], error=f"the benchmark failed: {error}")]
    return Result(task, turns, task.judge(turns))


def _word(result: Result) -> str:
    if result.verdict.right:
        return "solved" if result.verdict.solved else "right"
    return result.error or ("computed, not said" if result.is_unsaid else "wrong")


def _words(text: str) -> list[str]:
    return [word for word in (part.strip() for part in text.split(",")) if word]


def _tell(line: str) -> None:
    sys.stderr.write(f"{time.strftime('%H:%M:%S')} {line}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
