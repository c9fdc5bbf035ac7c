"""The local count of tokens, held against two tokenizers of the field, and its correction by a provider's count."""

import importlib.util
import json
import random
from pathlib import Path

import pytest

from onyx_jupyter.agent.token_count import IMAGE_TOKENS, Correction, message_tokens, request_tokens
from onyx_jupyter.messages import Attachment, Message, ToolCall, ToolDefinition
from onyx_jupyter.protocols import Measured, ModelRequest
from onyx_jupyter.text_tokens import text_tokens

RANDOM = random.Random(7)
ROWS = [{"id": number, "value": RANDOM.random(), "name": f"row {number}", "ok": True} for number in range(100)]
TEXTS = {
    "english": "The quick brown fox jumps over the lazy dog, and everyone agreed that it was good. " * 20,
    "code": Path(__file__).read_text("utf-8"),
    "json": json.dumps(ROWS),
    "numbers": "\n".join(",".join(f"{RANDOM.random():.4f}" for _ in range(8)) for _ in range(60)),
    "paths": "\n".join(f"/usr/lib/python3.11/site-packages/a_b/c{n}.py:{n}: error: E50{n % 9}" for n in range(60)),
    "german": "Die Überschwemmungsgebiete wurden größtenteils geräumt; außerdem berichten sie täglich. " * 10,
    "russian": "Быстрая коричневая лиса перепрыгивает через ленивую собаку, и все соглашаются. " * 10,
    "chinese": "人工智能助手在笔记本中逐个单元格地工作，并在更改或运行任何内容之前询问用户。" * 10,
    "korean": "노트북의 셀을 하나씩 실행하고 변경하기 전에 반드시 확인합니다. " * 10,
    "hindi": "सहायक नोटबुक पर सेल दर सेल काम करता है और कुछ भी बदलने से पहले पूछता है। " * 10,
    "emoji": "👩‍👩‍👧‍👦🎉🚀🏳️‍🌈😀🤷🏽‍♀️" * 30,
}


@pytest.fixture(scope="module")
def tokenizers():
    spec = importlib.util.find_spec("litellm")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    with pytest.MonkeyPatch.context() as patch:
        tables = Path(spec.submodule_search_locations[0]) / "litellm_core_utils" / "tokenizers"
        patch.setenv("TIKTOKEN_CACHE_DIR", str(tables))
        import tiktoken

        yield [tiktoken.get_encoding(name) for name in ("cl100k_base", "o200k_base")]


@pytest.mark.parametrize("name", TEXTS)
def test_estimate_is_slightly_high_and_never_far_off(name, tokenizers):
    real = max(len(tokenizer.encode(TEXTS[name], disallowed_special=())) for tokenizer in tokenizers)
    assert 0.85 * real <= text_tokens(TEXTS[name]) <= 2.2 * real


def test_lone_surrogates_are_counted():
    assert text_tokens("\ud83d") > 0


def test_image_counts_the_same_whatever_its_size():
    small, large = (
        message_tokens(Message("user", "x", attachments=(Attachment("image", "image/png", "A" * size),)))
        for size in (10, 1_000_000)
    )
    assert small == large > IMAGE_TOKENS


def test_prompt_tools_calls_and_arguments_are_counted():
    call = ToolCall("c", "write", {"text": "many words " * 100})
    parts = [
        ModelRequest("many words " * 100, []),
        ModelRequest("", [Message("assistant", "", (call,))]),
        ModelRequest("", [Message("user", "", context="many words " * 100)]),
        ModelRequest("", [], [ToolDefinition("t", "many words " * 100)]),
        ModelRequest("", [], [ToolDefinition("t", "", {"description": "many words " * 100})]),
    ]
    assert all(request_tokens(request) > 200 for request in parts)


def test_provider_count_is_exact_and_only_new_text_is_estimated():
    correction = Correction(Measured(estimate=1000, counted=1500))
    assert correction.tokens(1000) == 1500
    assert correction.tokens(1100) == 1650
    assert correction.estimate(1650) == 1100
    assert Correction(None).tokens(1100) == Correction(None).estimate(1100) == 1100


def test_implausible_provider_counts_are_clamped():
    tiny = Correction(Measured(estimate=1000, counted=1))
    assert tiny.tokens(10_000) == 5000
    assert tiny.tokens(tiny.estimate(3000)) <= 3000
    hidden = Correction(Measured(estimate=100, counted=5000))
    assert hidden.tokens(200) == 5000 + 250
