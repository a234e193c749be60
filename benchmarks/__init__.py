"""Suites of joins on Spark with and without thetajoin, DuckDB, DataFusion and Polars."""
