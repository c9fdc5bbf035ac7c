"""The processors that come with Onyx, a file each; `runs.processors` says which of them a run goes through."""
