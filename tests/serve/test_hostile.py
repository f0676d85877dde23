"""Everything that can be sent: hostile SQL, and whatever the description of the interface allows or forbids."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, Phase, given, settings

from tacit.errors import TacitError
from tacit.serve.config import load
from tacit.serve.gateway import Gateway
from tacit.serve.openapi import DESCRIPTION
from tacit.serve.tokens import ANALYST, Caller
from tests.serve.hostile import CANARIES, SECRET, hostile, rows
from tests.serve.support import configuration

STRINGS = 250
"""All that was written by hand, and some of it broken; benchmarks/serve.py sends 2,000 over the wire."""
ADA = Caller(ANALYST, "ada")


def test_hostile_sql_reads_no_file_breaks_nothing_and_shows_no_data(tmp_path: Path) -> None:
    path = configuration(tmp_path, epsilon="1000000", extra="[limits]\nleast_price = 0\nfailures = 1000")
    (tmp_path / "visits.csv").write_text(rows())
    secret = tmp_path / "secret.txt"
    secret.write_text(SECRET)
    gateway = Gateway(load(path))
    answered = 0
    for text, reaches in hostile(STRINGS, str(secret)):
        try:
            question = gateway.read_question(
                ADA, "visits", {"sql": text, "epsilon": "0.000001"}
            )  # answers are all noise
            said = str(gateway.ask(ADA, "visits", question))
            answered += 1
            assert not reaches, text
        except TacitError as error:
            said = str(error)
        for canary in (*CANARIES, SECRET):
            assert canary not in said or canary in text, text
    assert secret.read_text() == SECRET
    assert 0 < answered < STRINGS / 2
    gateway.close()


@pytest.mark.parametrize("nobody", [{"extra": "[limits]\nper_minute = 100000"}], indirect=True)
def test_nothing_the_description_can_say_is_a_server_error(ada: httpx.Client) -> None:
    import schemathesis  # here, as that takes long
    from schemathesis.checks import not_a_server_error

    schema = schemathesis.openapi.from_dict(DESCRIPTION)
    operations: list[Any] = [found.ok() for found in schema.get_all_operations()]  # type: ignore[union-attr]
    headers = {"Authorization": ada.headers["Authorization"]}
    seen: set[int] = set()
    for operation in operations:

        @settings(max_examples=10, phases=[Phase.generate], suppress_health_check=list(HealthCheck), database=None)
        @given(case=operation.as_strategy())
        def ask(case: Any) -> None:
            case.path_parameters = dict(case.path_parameters or {})
            if "dataset" in case.path_parameters and len(seen) % 2:
                case.path_parameters["dataset"] = "visits"
            response = case.call(base_url=str(ada.base_url), headers=headers)
            seen.add(response.status_code)
            case.validate_response(response, checks=(not_a_server_error,))

        ask()
    assert len(operations) == 17
    assert {200, 400, 404} <= seen
