"""How well questions about data are answered by Onyx with a given model, and by the model alone."""
