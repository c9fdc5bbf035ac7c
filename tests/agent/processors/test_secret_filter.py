from onyx_jupyter.agent.processors.secret_filter import SecretFilter
from onyx_jupyter.messages import Message
from onyx_jupyter.protocols import ModelRequest
from onyx_jupyter.security.secret_redactor import SecretRedactor


async def texts(secrets: SecretRedactor, *messages: Message) -> list[str]:
    request = await SecretFilter(secrets).before_model(ModelRequest("", messages))
    return [message.content for message in request.messages]


async def test_cached_redaction_is_valid_until_known_secrets_change():
    messages = Message("user", "first-hidden-value"), Message("user", "second-hidden-value")
    one = SecretRedactor({"first-hidden-value": "one"}, shapes=False)
    both = SecretRedactor({"first-hidden-value": "one", "second-hidden-value": "two"}, shapes=False)
    for _ in range(2):
        assert await texts(one, *messages) == ["[redacted:one]", "second-hidden-value"]
        assert await texts(both, *messages) == ["[redacted:one]", "[redacted:two]"]
    assert [message.content for message in messages] == ["first-hidden-value", "second-hidden-value"]


async def test_redaction_is_cached_per_message():
    secrets = SecretRedactor({"first-hidden-value": "one"}, shapes=False)
    plain, hidden = Message("user", "hello"), Message("user", "first-hidden-value")
    first = (await SecretFilter(secrets).before_model(ModelRequest("", [plain, hidden]))).messages
    again = (await SecretFilter(secrets).before_model(ModelRequest("", [plain, hidden]))).messages
    assert first[0] is plain
    assert first[1] is again[1]
