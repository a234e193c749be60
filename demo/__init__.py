"""Questions about flights, weather and addresses, with thetajoin off and on: `python -m demo`."""
