"""The processors that come with Onyx, a file each; `runtime.processors` says which of them a run goes through."""
