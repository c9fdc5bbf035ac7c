"""Commands, and the processes that go on."""
