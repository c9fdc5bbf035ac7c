"""The files of the models that run on this machine: which there are, where they lie, how they come and go."""
