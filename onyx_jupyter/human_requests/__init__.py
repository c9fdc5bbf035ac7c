"""Who said yes to what. It never runs anything, and silence, a stop or a restart is never a yes."""
