"""Two servers append to one ledger at the same time: no line is lost or torn, and each one's totals are their sum."""

import json
import random
import subprocess
import sys
import tempfile
from datetime import UTC, date
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from onyx_jupyter.usage.ledger import Ledger
from onyx_jupyter.usage.totals import Totals
from tests.usage.calls import call

DAY = date(2026, 3, 14)
_SERVER = """
import json, sys
from datetime import UTC, date
from pathlib import Path
from onyx_jupyter.usage.ledger import Ledger
from onyx_jupyter.usage.totals import Totals
from tests.usage.calls import call
folder, seed = Path(sys.argv[1]), int(sys.argv[2])
ledger, totals, seen = Ledger(folder), Totals(Ledger(folder)), 0
for number in range(int(sys.argv[3])):
    ledger.append(call((seed, number), seed / 4, session=f"s{number % 3}"))
    calls = totals.of_day(date(2026, 3, 14), UTC).calls
    assert calls >= max(seen, number + 1), "a total that goes back, or lacks what was just written"
    seen = calls
"""


@settings(max_examples=3, deadline=None)
@given(st.lists(st.integers(20, 120), min_size=2, max_size=2))
def test_totals_are_the_sum_of_what_both_wrote(counts):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        watcher = Totals(Ledger(folder))
        servers = [
            subprocess.Popen([sys.executable, "-c", _SERVER, name, str(seed), str(count)])
            for seed, count in enumerate(counts, start=1)
        ]
        while any(server.poll() is None for server in servers):
            watcher.of_day(DAY, UTC)
        assert [server.returncode for server in servers] == [0, 0]
        lines = [json.loads(line) for line in (folder / "2026-03.jsonl").read_text().splitlines()]
        assert len(lines) == sum(counts)
        for totals in (watcher, Totals(Ledger(folder))):
            day = totals.of_day(DAY, UTC)
            assert (day.calls, day.input_tokens) == (len(lines), sum(line["inputTokens"] for line in lines))
            assert day.cost_usd == sum(line["costUsd"] for line in lines)
            sessions = [totals.of_session(f"s{number}").calls for number in range(3)]
            assert sum(sessions) == len(lines)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32), st.binary(max_size=30))
def test_damage_of_any_kind_costs_only_the_damaged_lines(seed, rubbish):
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        ledger, file = Ledger(Path(name)), Path(name) / "2026-03.jsonl"
        for number in range(5):
            ledger.append(call((number, 1)))
        raw = file.read_bytes()
        at = chance.randrange(len(raw))
        file.write_bytes(raw[:at] + rubbish + raw[at:])
        touched = 1 + rubbish.count(b"\n")
        ledger.append(call((100, 1)))
        assert 5 - touched <= Totals(ledger).of_day(DAY, UTC).calls <= 6
