"""Retries of requests to an object store, without the retry quota that botocore uses by default.

botocore takes from that quota for every retry, and gives back only when an answer is a success. A corpus asks for many
objects that do not exist yet, and makes writes whose conditions fail: after some hundred of these answers botocore
would no longer retry, and the next busy moment of the store would fail a build.
"""

from typing import Any

_WITHOUT_END = 1 << 60


def without_allowance(connection: Any, attempts: int) -> None:
    """Replaces the retries of a client in mode `standard` by the same without a quota: only attempts are limited."""
    from botocore.retries import standard
    from botocore.retries.quota import RetryQuota

    service = connection.meta.service_model.service_id.hyphenize()
    adapter = standard.RetryEventAdapter()
    detector = standard.ThrottlingErrorDetector(adapter)
    backoff = standard.ExponentialBackoff(service_name=service, throttling_detector=detector)
    handler = standard.RetryHandler(
        retry_policy=standard.RetryPolicy(standard.StandardRetryConditions(max_attempts=attempts), backoff),
        retry_event_adapter=adapter,
        retry_quota=standard.RetryQuotaChecker(RetryQuota(_WITHOUT_END), detector),
        service_name=service,
    )
    event, known = f"needs-retry.{service}", f"retry-config-{service}"
    connection.meta.events.unregister(event, unique_id=known)
    connection.meta.events.register(event, handler.needs_retry, unique_id=known)
