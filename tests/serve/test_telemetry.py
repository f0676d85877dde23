"""What leaves by OpenTelemetry: our own words about requests, nothing of what was asked, and no time of its own."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tacit.serve.config import Telemetry as Terms
from tacit.serve.telemetry import METHODS, Exported, Telemetry, telemetry
from tests.serve.conftest import gateway
from tests.serve.support import configuration, token
from tests.serve.test_assistants import over_http, told

ASK = "/v1/datasets/visits/ask"
CANARY = "canary-in-a-literal"
ALLOWED = {"http.request.method", "http.route", "http.response.status_code", "tacit.outcome", "tacit.role"}
RESOURCE = {
    "service.name", "service.version", "service.instance.id", "telemetry.sdk.language", "telemetry.sdk.name",
    "telemetry.sdk.version",
}  # fmt: skip


@contextmanager
def receiver() -> Iterator[tuple[str, dict[str, list[bytes]]]]:
    """What an OTLP receiver was sent, by path."""
    sent: dict[str, list[bytes]] = {"/v1/traces": [], "/v1/metrics": []}

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            sent[self.path].append(self.rfile.read(int(self.headers["content-length"])))
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", sent
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_nothing_private_leaves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "none")
    padding, begun = 0.4, time.time_ns()
    with receiver() as (address, sent):
        extra = f'[telemetry]\nendpoint = "{address}"\nservice = "test"\n[limits]\npadding_seconds = {padding}'
        with gateway(lambda _: configuration(tmp_path, extra=extra)) as client:
            mine = {"Authorization": f"Bearer {token('ada')}", "traceparent": f"00-{'ab' * 16}-{'cd' * 8}-01"}
            sql = f"SELECT COUNT(*) FROM visits WHERE place = '{CANARY}'"
            keyed = mine | {"Idempotency-Key": "secret-key"}
            assert client.post(ASK, json={"sql": sql, "epsilon": "0.123"}, headers=keyed).status_code == 200
            wrong = {"sql": f"SELECT * FROM visits WHERE place = '{CANARY}'", "epsilon": "1"}
            assert client.post(ASK, json=wrong, headers=mine).status_code == 422
            surprise = {"sql": "SELECT COUNT(*) FROM visits -- surprise", "epsilon": "1"}
            assert client.post(ASK, json=surprise, headers=mine).status_code == 500
            assert client.get(f"/{CANARY}").status_code == 404
            assert client.get(f"/v1/datasets/{CANARY}", headers=mine).status_code == 404
            assert client.request(CANARY.upper(), "/login").status_code == 405
            assert client.post("/login", data={"token": CANARY}).status_code == 401

            async def assisted() -> None:
                async with over_http(str(client.base_url)) as assistant:
                    given = {"dataset": "visits", "sql": sql, "epsilon": "0.2", CANARY: 1}
                    assert not (await told(assistant, "ask", **given))[0]
                    assert not (await told(assistant, CANARY))[0]

            asyncio.run(assisted())
    spans = [
        span
        for body in sent["/v1/traces"]
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]
    facts = [{f.key: f.value.string_value or f.value.int_value for f in span.attributes} for span in spans]
    routes = [fact["http.route"] for fact in facts]
    assert routes.count("/v1/datasets/{dataset}/ask") == 3
    assert routes.count("other") == 1
    assert "/mcp" in routes
    assert {fact["http.request.method"] for fact in facts} <= {*METHODS, "_OTHER"}
    outcomes = sorted(str(fact["tacit.outcome"]) for fact in facts if "tacit.outcome" in fact)
    assert outcomes == ["answered", "unforeseen", "unsupported_query"]
    everything = b"".join(sent["/v1/traces"] + sent["/v1/metrics"])
    words = [CANARY, CANARY.upper(), "visits", "grace", "SELECT", "secret-key", "0.123", token("ada"), "ab" * 16]
    for private in words:
        assert private.encode() not in everything.replace(b"/v1/datasets/{dataset}", b""), private
    assert bytes.fromhex("ab" * 16) not in everything  # nobody chooses the name of a trace
    for span, fact in zip(spans, facts, strict=True):
        assert set(fact) <= ALLOWED
        assert "ada" not in fact.values()
        assert not span.events
        assert not span.links
        assert not span.parent_span_id
        assert not span.status.message
        assert begun <= span.start_time_unix_nano <= span.end_time_unix_nano <= time.time_ns()
        if "tacit.outcome" in fact:  # padding shows in the span as it did in the response
            assert span.end_time_unix_nano - span.start_time_unix_nano >= padding * 0.99e9
    for body in sent["/v1/traces"]:
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            assert {f.key for f in resource.resource.attributes} <= RESOURCE
            assert {scope.scope.name for scope in resource.scope_spans} == {"tacit"}  # no library's own
    points: dict[str, set[str]] = {}
    for body in sent["/v1/metrics"]:
        for resource in ExportMetricsServiceRequest.FromString(body).resource_metrics:
            for scope in resource.scope_metrics:
                for metric in scope.metrics:
                    data = getattr(metric, str(metric.WhichOneof("data")))
                    keys = {f.key for point in data.data_points for f in point.attributes}
                    points.setdefault(metric.name, set()).update(keys)
    assert set(points) == {
        "http.server.request.duration", "tacit.questions", "tacit.questions.in_flight", "tacit.questions.waiting",
    }  # fmt: skip
    assert set().union(*points.values()) <= ALLOWED


def test_without_a_receiver_nothing_is_loaded_and_one_that_is_away_keeps_nobody(tmp_path: Path) -> None:
    off = telemetry(Terms(), lambda: 0, lambda: 0)
    assert type(off) is Telemetry
    off.answered("GET", "/", 200, "", "", 0)
    off.close()
    away = telemetry(Terms(endpoint="http://127.0.0.1:9"), lambda: 0, lambda: 0)
    assert isinstance(away, Exported)
    begun = time.monotonic()
    away.answered("GET", "/", 200, "", "", time.time_ns())
    assert time.monotonic() - begun < 5
