"""Proofs for all datasets: a small kernel of rules, and what two solvers make of a mechanism's argument."""

from tacit.proofs.argument import Argument
from tacit.proofs.catalogue import fingerprint, proofs
from tacit.proofs.proof import Proof, Verdict, prove

__all__ = ["Argument", "Proof", "Verdict", "fingerprint", "proofs", "prove"]
