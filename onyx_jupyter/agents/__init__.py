"""The agents of one server as they are configured now: settings, models, toolsets, paths."""
