"""Ways that statistics share: caps and capped sums, groups given and found, grids, flows of shared rows."""
