"""Other forms of a condition, beside the form that an index serves."""
