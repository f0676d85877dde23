"""Persons, rows and sums, without bounds.

With ``epsilon=`` the default is the jointly charged scan and release of `tacit.mechanisms.scan_and_release`. With
Gaussian noise a threshold scan chooses a cap λ and Σ_u min(s_u, λ), which one person moves by at most λ, gets noise
of variance λ²/(2ρ). A person's total is either positive or negative, so the two parts of a signed sum concern
disjoint persons and are released side by side for the cost of one.
"""

from __future__ import annotations
