"""One answer being made: its queue, prompt, origin and mode, the stream of its events, and its recovery."""
