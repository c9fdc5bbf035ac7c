"""The only place where parts are put together; every surface comes in through `Onyx`."""
