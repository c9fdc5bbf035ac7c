"""Where a conversation is cut: never before the newest message of the user, and never so that a gap fills again."""

from onyx_jupyter.agent.token_count import messages_tokens
from onyx_jupyter.agent.truncation import cut, split, user_messages
from onyx_jupyter.messages import Message
from onyx_jupyter.protocols import Block, Compaction
from onyx_jupyter.sessions.compacted import compacted

SAID = "lorem ipsum dolor " * 20


def user(name: str, text: str = SAID, *, carried: bool = False) -> Block:
    return Block(name, "r", (Message("user", text),), carried=carried, words=(text,))


def reply(name: str, text: str = SAID) -> Block:
    return Block(name, "r", (Message("assistant", text),))


def size(*blocks: Block) -> int:
    return sum(messages_tokens(block.messages) for block in blocks)


def test_larger_of_turn_and_token_minimum_is_kept_up_to_maximum():
    blocks = [block for number in range(5) for block in (user(f"u{number}"), reply(f"a{number}"))]
    turn = size(*blocks[:2])
    by_turns = split(blocks, 100 * turn, 0, 3)
    assert by_turns is not None
    assert by_turns.first_kept == "u2"
    by_tokens = split(blocks, 100 * turn, 4 * turn, 1)
    assert by_tokens is not None
    assert by_tokens.first_kept == "u1"
    at_most = split(blocks, turn, 4 * turn, 4)
    assert at_most is not None
    assert at_most.first_kept == "u4"
    assert split(blocks, 100 * turn, 100 * turn, 3) is None


def test_cut_inside_run_carries_its_message_and_keeps_last_block():
    blocks = [user("u"), reply("a1"), reply("a2"), reply("a3", SAID * 100)]
    part = split(blocks, 10, 10, 3)
    assert part is not None
    assert (part.first_kept, part.carried) == ("a3", ("u",))
    assert [block.entry_id for block in part.older] == ["a1", "a2"]


def test_gap_after_carried_message_stays():
    summary = Block("s", "", (Message("user", "sum"),), summary="sum", is_summary=True)
    blocks = [summary, user("u", carried=True), reply("a5"), reply("a6")]
    part = split(blocks, 100_000, 100_000, 3)
    assert part is not None
    assert (part.first_kept, part.carried) == ("a5", ("u",))
    everything = [user("u"), *(reply(f"a{number}") for number in range(1, 7))]
    seen = compacted(everything, Compaction("", (), part.first_kept, part.carried), "c", ())
    assert [block.entry_id for block in seen] == ["u", "a5", "a6"]


def test_user_words_are_shortened_evenly_and_middle_ones_dropped_last():
    blocks = [user(f"u{number}", f"{number} {SAID}") for number in range(50)]
    assert user_messages(blocks, 100_000) == tuple(f"{number} {SAID}" for number in range(50))
    short = user_messages(blocks, 2200)
    assert len(short) == 50
    assert all(len(word) <= 250 for word in short)
    few = user_messages(blocks, 200)
    assert 2 <= len(few) < 50
    assert few[0].startswith("0 ")
    assert few[-1].startswith("49 ")
    assert user_messages(blocks, 0) == ()


def test_nothing_is_written_if_nothing_can_be_shortened():
    blocks = [user("u", "short")]
    assert cut(blocks, 0, lambda tried: compacted(blocks, tried, "c", {"u"}), drop=True) is None


def test_one_long_text_is_shortened_before_older_ones_are_dropped():
    blocks = [user("u0", "old rule"), reply("a0", "yes"), user("u1", "word " * 40_000)]
    made = cut(blocks, 20_000, lambda tried: compacted(blocks, tried, "c", {"u0", "a0", "u1"}), drop=False)
    assert made is not None
    assert made.first_kept == "u0"
    assert made.longest_chars == 64_000
