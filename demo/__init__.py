"""A question for each pattern, over real tables, with thetajoin off and on: `make demo`."""
