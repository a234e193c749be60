"""Questions about flights, weather, addresses and places, with thetajoin off and on: `python -m demo`."""
