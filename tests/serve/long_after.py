"""What executors carry of a gateway that is started long after a crash: nobody works on an old question any more."""

from __future__ import annotations

from tacit.serve import gateway

gateway.AFTER = -1000.0
