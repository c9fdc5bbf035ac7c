"""The files of the models that run on this machine: catalogue, storage, fetching and removal."""
