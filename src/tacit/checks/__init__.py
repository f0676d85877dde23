"""What the custodian should know about the data before anybody asks: `tacit check`.

PROMISE. What is found here is about the rows themselves and is the custodian's alone. It is never part of an answer, a
refusal or a forecast, and no session, table or request of an analyst can reach it.
PROOF. Only the command line and the gateway's start and custodian's page import this room, and only this room imports
`tacit.engines.inspection` (`tests/test_architecture.py`).

A report holds names, numbers and line numbers, and no value of any row. A finding is *serious* where the promise of the
library would break, because a key that ``through=`` or ``key=`` calls unique is not; the others are to be looked at.
"""

from tacit.checks.checking import check, check_keys
from tacit.checks.report import Finding, Report

__all__ = ["Finding", "Report", "check", "check_keys"]
