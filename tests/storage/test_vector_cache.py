from onyx_jupyter.protocols.retrieval import EmbedderIdentity
from onyx_jupyter.storage.vector_cache import vector_key

IDENTITY = EmbedderIdentity("local", "minilm", 384)


def test_key_changes_with_all_that_a_vector_depends_on() -> None:
    keys = {
        vector_key(IDENTITY, "text"),
        vector_key(IDENTITY, "text "),
        vector_key(IDENTITY, "text", "query"),
        vector_key(EmbedderIdentity("ollama", "minilm", 384), "text"),
        vector_key(EmbedderIdentity("local", "other", 384), "text"),
        vector_key(EmbedderIdentity("local", "minilm", 768), "text"),
        vector_key(IDENTITY, "half of a pair: \ud83d"),
    }
    assert len(keys) == 7
    assert {len(key) for key in keys} == {64}
    assert vector_key(IDENTITY, "text") == vector_key(EmbedderIdentity("local", "minilm", 384), "text", "passage")
