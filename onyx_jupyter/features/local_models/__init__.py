"""The models that run on this machine: fetching, pausing, removing."""
