from onyx_jupyter.providers.tool_call_deltas import ToolCallDeltas


def test_interleaved_fragments_are_assigned_by_index() -> None:
    fragments = ToolCallDeltas()
    fragments.add(0, "a", "read", '{"path"')
    fragments.add(1, "b", "list", "")
    fragments.add(0, None, None, ': "x"}')
    fragments.add(1, None, None, '{"path": "y"}')
    assert [(c.id, c.name, c.arguments) for c in fragments.calls()] == [
        ("a", "read", {"path": "x"}),
        ("b", "list", {"path": "y"}),
    ]


def test_without_index_new_id_starts_new_call() -> None:
    fragments = ToolCallDeltas()
    fragments.add(None, "a", "read", '{"path":')
    fragments.add(None, None, None, ' "x"}')
    fragments.add(None, "b", "list", "")
    assert [(c.id, c.arguments) for c in fragments.calls()] == [("a", {"path": "x"}), ("b", {})]


def test_calls_that_all_have_the_same_index_are_told_apart_by_id_and_name() -> None:
    fragments = ToolCallDeltas()
    for call_id in "abc":
        fragments.add(0, call_id, "read", f'{{"path": "{call_id}"}}', {"sealed": call_id} if call_id == "b" else None)
    assert [(c.id, c.arguments["path"]) for c in fragments.calls()] == [("a", "a"), ("b", "b"), ("c", "c")]
    assert fragments.carried() == [{}, {"sealed": "b"}, {}]


def test_an_id_that_changes_from_fragment_to_fragment_begins_no_new_call() -> None:
    fragments = ToolCallDeltas()
    fragments.add(0, "a", "read", '{"path":')
    fragments.add(0, "b", None, ' "x"}')
    assert [(c.id, c.arguments) for c in fragments.calls()] == [("a", {"path": "x"})]
    assert fragments.carried() == []


def test_missing_ids_are_generated_uniquely() -> None:
    fragments = ToolCallDeltas()
    fragments.add(0, None, "read", "{}")
    fragments.add(1, "", "read", "{}")
    first, second = fragments.calls()
    assert first.id
    assert second.id
    assert first.id != second.id


def test_repeated_name_is_taken_once_and_nameless_fragment_dropped() -> None:
    fragments = ToolCallDeltas()
    fragments.add(0, "a", "read", "")
    fragments.add(0, "a", "read", "{}")
    fragments.add(1, "b", None, "{}")
    (call,) = fragments.calls()
    assert (call.name, call.arguments, call.malformed) == ("read", {}, None)


def test_number_outside_json_makes_arguments_malformed() -> None:
    fragments = ToolCallDeltas()
    fragments.add(0, "a", "read", '{"x": NaN}')
    (call,) = fragments.calls()
    assert (dict(call.arguments), call.malformed) == ({}, '{"x": NaN}')
