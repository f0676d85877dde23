"""Traces and metrics for whoever runs the gateway, by OpenTelemetry, and nothing private in them.

PROMISE. What is exported says of a request: its method, which of our routes it met, its status, the word of its
outcome, whether an analyst or a custodian came, and when it arrived and was answered. It holds no query, name, key,
token, address, dataset, cost or answer, and no time that the caller did not see.
PROOF. Every attribute is written in `answered`, from lists of our own words; nothing that a caller or the data wrote is
one of them. There is one span for a request, and none inside it: it ends when its response has been handed over,
padding included. The providers are this module's own and not the global ones, so no library can put its spans beside
ours. Who asks is never continued from a header: a caller chooses neither what is traced nor under which name.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from tacit import __version__
from tacit.errors import not_installed
from tacit.serve.config import Telemetry as Terms

if TYPE_CHECKING:
    from opentelemetry.metrics import CallbackOptions, Observation

METHODS = ("GET", "POST", "HEAD", "OPTIONS", "PUT", "PATCH", "DELETE")
OUTCOME = "tacit.outcome"
"""Under which a request's scope holds the word of its outcome."""
PATIENCE = 5000
"""Milliseconds that the end of the gateway may wait for a receiver."""


class Telemetry:
    """What is told about requests; nothing, unless a receiver is configured."""

    def answered(self, method: str, route: str, status: int, outcome: str, role: str, begun: int) -> None:
        """A request that arrived at ``begun``, in nanoseconds since 1970, was answered now."""

    def close(self) -> None:
        """Send what is left."""


class Exported(Telemetry):
    """What is told to a receiver of OTLP over HTTP."""

    def __init__(self, terms: Terms, in_flight: Callable[[], int], waiting: Callable[[], int]) -> None:
        try:
            from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
            from opentelemetry.metrics import Observation
            from opentelemetry.sdk.metrics import MeterProvider
            from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
            from opentelemetry.sdk.resources import Resource
            from opentelemetry.sdk.trace import TracerProvider
            from opentelemetry.sdk.trace.export import BatchSpanProcessor
        except ImportError:
            raise not_installed("traces need the packages of OpenTelemetry", "telemetry") from None
        logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)  # a receiver that is away is no news each time
        resource = Resource.create({"service.name": terms.service, "service.version": __version__})
        base = terms.endpoint.rstrip("/")
        self._traces = TracerProvider(resource=resource, shutdown_on_exit=False)
        self._traces.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=f"{base}/v1/traces")))
        reader = PeriodicExportingMetricReader(
            OTLPMetricExporter(endpoint=f"{base}/v1/metrics"), export_interval_millis=float(terms.seconds) * 1000
        )
        self._metrics = MeterProvider([reader], resource=resource, shutdown_on_exit=False)
        self._tracer = self._traces.get_tracer("tacit", __version__)
        meter = self._metrics.get_meter("tacit", __version__)
        self._seconds = meter.create_histogram("http.server.request.duration", "s", "How long callers waited.")
        self._questions = meter.create_counter("tacit.questions", "1", "Questions by outcome.")

        def observed(count: Callable[[], int]) -> Callable[[CallbackOptions], Iterable[Observation]]:
            return lambda _: [Observation(count())]

        meter.create_observable_gauge("tacit.questions.in_flight", [observed(in_flight)])
        meter.create_observable_gauge("tacit.questions.waiting", [observed(waiting)])

    def answered(self, method: str, route: str, status: int, outcome: str, role: str, begun: int) -> None:
        """Write one span, and count."""
        from opentelemetry.context import Context
        from opentelemetry.trace import SpanKind

        now = time.time_ns()
        facts: dict[str, Any] = {
            "http.request.method": method if method in METHODS else "_OTHER",
            "http.route": route,
            "http.response.status_code": status,
        }
        more = {name: word for name, word in ((OUTCOME, outcome), ("tacit.role", role)) if word}
        span = self._tracer.start_span(
            f"{facts['http.request.method']} {route}", Context(), SpanKind.SERVER, facts | more, start_time=begun
        )
        span.end(now)
        self._seconds.record(max(now - begun, 0) / 1e9, facts)
        if outcome:
            self._questions.add(1, {OUTCOME: outcome})

    def close(self) -> None:
        """Send what is left, without waiting for a receiver that is away for long."""
        self._traces.force_flush(PATIENCE)
        self._traces.shutdown()
        self._metrics.shutdown(PATIENCE)


def telemetry(terms: Terms, in_flight: Callable[[], int], waiting: Callable[[], int]) -> Telemetry:
    """What a configuration asks for."""
    return Exported(terms, in_flight, waiting) if terms.endpoint else Telemetry()
