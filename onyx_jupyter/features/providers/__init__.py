"""The settings of the model providers: state, test, keys."""
