"""The tools that come with Onyx, one file a family; their features bring them."""
