"""Spark, classic or by Spark Connect."""
