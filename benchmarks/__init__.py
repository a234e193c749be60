"""Suites of joins on Spark with and without thetajoin, and on other engines beside it."""
