"""What an evaluation of a backend says, and how it is scored."""

from __future__ import annotations

from dataclasses import dataclass, field

AVAILABLE = 20
STORE, RETRIEVE, QUERY = 15, 15, 10
LOCAL, CLOUD = 20, 5
# Points for a mean latency below so many milliseconds; what is slower still gets the last.
LATENCIES = ((10.0, 20), (50.0, 15), (200.0, 10))
SLOW = 5
VERDICTS = ((80, "RECOMMENDED"), (60, "ACCEPTABLE"), (40, "MARGINAL"))
NOT_RECOMMENDED = "NOT RECOMMENDED"
DISABLED = "DISABLED"


@dataclass(slots=True)
class BackendEvaluation:
    """How a backend did, up to 100 points: availability 20, functionality 40, latency 20, privacy 20."""

    backend_name: str
    is_cloud: bool
    available: bool = False
    store_latency_ms: float = 0.0
    retrieve_latency_ms: float = 0.0
    query_latency_ms: float = 0.0
    store_success: bool = False
    """It was there afterwards: what is accepted and not kept is no success."""
    retrieve_success: bool = False
    query_returns_results: bool = False
    query_result_count: int = 0
    data_location: str = ""
    requires_api_key: bool = False
    score: int = 0
    recommendation: str = NOT_RECOMMENDED
    notes: list[str] = field(default_factory=list)


def mean_latency(evaluation: BackendEvaluation) -> float:
    """The mean of storing, retrieving and querying, in milliseconds."""
    return (evaluation.store_latency_ms + evaluation.retrieve_latency_ms + evaluation.query_latency_ms) / 3


def points(evaluation: BackendEvaluation) -> dict[str, int]:
    """The points by what they are for. A backend that was not tried to the end has no latency."""
    was_tried = evaluation.available and evaluation.query_latency_ms > 0
    kept = evaluation.store_success * STORE + evaluation.retrieve_success * RETRIEVE
    return {
        "availability": AVAILABLE if evaluation.available else 0,
        "functionality": kept + evaluation.query_returns_results * QUERY,
        "latency": latency_points(mean_latency(evaluation)) if was_tried else 0,
        "privacy": CLOUD if evaluation.is_cloud else LOCAL,
    }


def latency_points(milliseconds: float) -> int:
    return next((worth for below, worth in LATENCIES if milliseconds < below), SLOW)


def verdict(score: int) -> str:
    return next((said for least, said in VERDICTS if score >= least), NOT_RECOMMENDED)
