"""Sessions, and the messages in them."""
