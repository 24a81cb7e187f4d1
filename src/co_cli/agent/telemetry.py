"""Traces of what an agent does, for those who have configured where to send them.

Owns when traces are made: where OpenTelemetry's environment variables name an exporter. What was said is left out, unless
asked for. Nothing of it is imported otherwise.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from pydantic_ai.capabilities import AbstractCapability

_NAMED_BY = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
_CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_INSTALL = "Traces are configured, but their packages are not installed: pip install 'co-cli[telemetry]'"

_made: list[AbstractCapability[None]] = []


def is_configured() -> bool:
    """Whether somebody has said where traces go."""
    if os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true" or os.environ.get("OTEL_TRACES_EXPORTER") == "none":
        return False
    return any(os.environ.get(name) for name in _NAMED_BY)


def capabilities(warn: Callable[[str], None]) -> list[AbstractCapability[None]]:
    """What an agent needs to be traced; nothing where nobody wants traces."""
    if not is_configured():
        return []
    if not _made:
        try:
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
            from opentelemetry.sdk.resources import SERVICE_NAME, Resource
            from opentelemetry.sdk.trace import TracerProvider
            from opentelemetry.sdk.trace.export import BatchSpanProcessor
        except ImportError:
            warn(_INSTALL)
            return []
        from pydantic_ai.capabilities import Instrumentation
        from pydantic_ai.models.instrumented import InstrumentationSettings

        name = os.environ.get("OTEL_SERVICE_NAME", "co")
        provider = TracerProvider(resource=Resource.create({SERVICE_NAME: name}))
        provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))  # its end sends what is left
        content = os.environ.get(_CONTENT, "").lower() == "true"
        settings = InstrumentationSettings(
            tracer_provider=provider, include_content=content, include_model_request_parameters=content
        )
        _made.append(Instrumentation(settings))
    return _made
