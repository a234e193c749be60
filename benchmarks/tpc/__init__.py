"""All queries of TPC-H and TPC-DS on Spark, with thetajoin off and on."""
