"""Questions about real flights and weather, with thetajoin off and on: `python -m demo`."""
