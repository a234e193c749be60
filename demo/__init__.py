"""Questions about flights, addresses and places, with thetajoin off and on: `python -m demo`."""
