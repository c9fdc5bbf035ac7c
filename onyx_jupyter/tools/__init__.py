"""What the agent can do: a tool is one file and one line of registration. Whether it may run is decided elsewhere."""
