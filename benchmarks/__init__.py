"""Nested-loop join benchmark: Spark with and without thetajoin, DuckDB, DataFusion and Polars."""
