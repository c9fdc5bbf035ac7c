"""The operations of Onyx, each declared once. Adapters (today the socket) read them; nothing here knows an adapter."""
