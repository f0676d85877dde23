"""What the custodian does while the gateway runs: the acts, where they lead, and the ways to do them.

The configuration file is the custodian's static part. What is done later (an analyst invited, a limit raised, a
question approved) is an act in the ledger (`tacit.ledger.acts`): append-only, chained, in every backup. `standing` says
what all acts lead to and lays that over the file; `actions` are what can be done, each in words first and confirmed
then; every process follows (`following`), so nothing needs a restart.
"""
