"""Events of a session: numbered, in order, once each, and kept for those who come back."""

import json

from onyx_jupyter.events import ApprovalResolved, ChatAborted, ChatDelta, ChatFinal, ChatStarted
from onyx_jupyter.messages import Usage
from onyx_jupyter.runs.streamed_event import StreamedEvent
from onyx_jupyter.runs.streams import SessionStreams
from onyx_jupyter.server.frames import encode_event


class Watcher:
    def __init__(self) -> None:
        self.frames: list[dict] = []

    def __call__(self, told: StreamedEvent) -> None:
        self.frames.append(json.loads(told.encoded(encode_event)))

    @property
    def seqs(self) -> list[int]:
        return [frame["data"]["seq"] for frame in self.frames]

    @property
    def texts(self) -> list[str]:
        return [frame["data"]["text"] for frame in self.frames if frame["event"] == "chat.delta"]


def final(run_id: str) -> ChatFinal:
    return ChatFinal(run_id, "done", Usage())


async def test_events_are_numbered_from_one_per_session():
    streams, watcher = SessionStreams(), Watcher()
    streams.watch("a", watcher)
    streams.publish("a", ChatStarted("r1"))
    streams.publish("b", ChatStarted("r2"))
    streams.publish("a", ChatDelta("r1", "x"))
    streams.publish("a", final("r1"))
    assert watcher.seqs == [1, 2, 3]
    assert watcher.frames[0] == {"event": "chat.started", "data": {"runId": "r1", "sessionKey": "a", "seq": 1}}
    assert watcher.frames[1]["data"] == {"runId": "r1", "text": "x", "seq": 2}


async def test_watching_twice_delivers_once_and_leaving_stops_delivery():
    streams, watcher = SessionStreams(), Watcher()
    streams.watch("a", watcher)
    streams.subscribe("a", watcher, None)
    streams.connect(watcher)
    streams.publish("a", ChatStarted("r1"))
    assert watcher.seqs == [1]
    streams.disconnect(watcher)
    streams.publish("a", final("r1"))
    streams.broadcast("session.updated", {})
    assert watcher.seqs == [1]


async def test_missed_events_are_replayed_once_in_order_from_any_position():
    streams = SessionStreams()
    streams.publish("a", ChatStarted("r1"))
    for number in range(20):
        streams.publish("a", ChatDelta("r1", str(number)))
    for after in range(22):
        watcher = Watcher()
        seq, missed = streams.subscribe("a", watcher, after)
        for frame in missed:
            watcher(frame)
        assert seq == 21
        assert watcher.seqs == list(range(after + 1, 22))
    streams.publish("a", final("r1"))
    assert watcher.seqs == [22]


async def test_without_number_only_active_run_is_replayed_from_start():
    streams, watcher = SessionStreams(), Watcher()
    for event in (ChatStarted("r1"), final("r1"), ChatStarted("r2"), ChatDelta("r2", "x")):
        streams.publish("a", event)
    seq, missed = streams.subscribe("a", watcher, None)
    assert (seq, [told.seq for told in missed]) == (4, [3, 4])
    streams.publish("a", final("r2"))
    assert streams.subscribe("a", Watcher(), None) == (5, [])


async def test_withdrawn_queued_message_does_not_hide_active_run():
    streams = SessionStreams()
    for event in (ChatStarted("r1"), ChatDelta("r1", "x"), ChatStarted("r2"), ChatAborted("r2"), ChatDelta("r1", "y")):
        streams.publish("a", event)
    _, missed = streams.subscribe("a", Watcher(), None)
    assert [told.seq for told in missed] == [1, 2, 3, 4, 5]


async def test_number_from_before_restart_replays_active_run():
    streams = SessionStreams()
    streams.publish("a", ChatStarted("r1"))
    seq, missed = streams.subscribe("a", Watcher(), 500)
    assert (seq, len(missed)) == (1, 1)


async def test_events_expire_after_their_run_but_never_during_it():
    streams = SessionStreams()
    for event in (ChatStarted("r1"), final("r1"), ChatStarted("r2"), ChatDelta("r2", "x")):
        streams.publish("a", event)
    streams._shorten("a", 2)
    assert len(streams.subscribe("a", Watcher(), 0)[1]) == 2
    streams._shorten("a", 4)  # a queued message taken back during the run ended at 4
    assert len(streams.subscribe("a", Watcher(), 0)[1]) == 2
    streams.publish("a", final("r2"))
    streams._shorten("a", 5)
    assert streams.subscribe("a", Watcher(), 0) == (5, [])


async def test_adapter_encodes_each_event_once_for_all_connections():
    made = []

    def of_socket(name: str, data: dict) -> str:
        made.append(("socket", name))
        return encode_event(name, data)

    def server_sent(name: str, data: dict) -> str:
        """Source: https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream"""
        made.append(("server-sent", name))
        return f"event: {name}\nid: {data['seq']}\ndata: {json.dumps(data)}\n\n"

    streams, frames, sent = SessionStreams(), [], []
    for _ in range(5):
        streams.watch("a", lambda told: frames.append(told.encoded(of_socket)))
        streams.watch("a", lambda told: sent.append(told.encoded(server_sent)))
    streams.publish("a", ApprovalResolved("a1", "denied", "ada", None))
    streams.publish("a", ChatDelta("r1", "line\nline"))
    assert sorted(made) == [
        (adapter, name) for adapter in ("server-sent", "socket") for name in ("chat.delta", "exec.approval_resolved")
    ]
    assert (len(frames), len(set(frames)), len(sent), len(set(sent))) == (10, 2, 10, 2)
    head, data = sent[-1].removesuffix("\n\n").rsplit("\n", 1)
    assert head == "event: chat.delta\nid: 2"
    assert json.loads(data.removeprefix("data: ")) == {"runId": "r1", "text": "line\nline", "seq": 2}
    assert json.loads(frames[-1]) == {"event": "chat.delta", "data": json.loads(data.removeprefix("data: "))}


async def test_late_watcher_gets_the_same_events():
    streams, there, later = SessionStreams(), Watcher(), Watcher()
    streams.watch("a", there)
    for event in (ChatStarted("r1"), ChatDelta("r1", "x"), ApprovalResolved("a1", "denied", "ada", None)):
        streams.publish("a", event)
    for told in streams.subscribe("a", later, None)[1]:
        later(told)
    assert later.frames == there.frames
    assert len(later.frames) == 3


async def test_failing_watcher_does_not_affect_others_or_numbering(caplog):
    streams, before, after = SessionStreams(), Watcher(), Watcher()

    def broken(told: StreamedEvent) -> None:
        raise RuntimeError(told.name)

    for subscriber in (before, broken, after):
        streams.watch("a", subscriber)
        streams.connect(subscriber)
    streams.publish("a", ChatStarted("r1"))
    streams.broadcast("session.updated", {})
    for watcher in (before, after):
        assert [frame["event"] for frame in watcher.frames] == ["chat.started", "session.updated"]
    assert [record.exc_info is not None for record in caplog.records] == [True, True]
