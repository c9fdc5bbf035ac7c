"""What holds for every test."""

import pytest

from onyx_jupyter.testing.no_real_providers import no_real_providers


@pytest.fixture(scope="session", autouse=True)
def no_provider_outside_this_machine():
    """A test that reaches for a paid provider fails with words instead of a bill."""
    with no_real_providers():
        yield
