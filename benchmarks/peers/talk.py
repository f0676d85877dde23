"""How a peer is spoken to: jobs in one JSON file, replies in another, data as arrays in .npz files.

A job names its data, a statistic, ε, public bounds (or none, for automatic ones) and how often it is drawn. A peer
turns a job into a function that makes one release; what does not change between releases is prepared once, and the
peer's own code draws. A job ends early when its seconds of processor time are over, after one release at least. A
release that the peer refuses is no answer, and a job of which it refuses every release is refused.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Arrays = dict[str, npt.NDArray[Any]]
Job = dict[str, Any]
Draw = Callable[[], Any]
Prepare = Callable[[Job, Arrays], Draw]


def serve(prepare: Prepare, whole: Callable[[Job], Any]) -> None:
    """Answer the jobs named on the command line, or the one whole query over a Parquet file."""
    asked, said = map(Path, sys.argv[1:3])
    jobs = json.loads(asked.read_text())
    if "parquet" in jobs:
        said.write_text(json.dumps(timed(lambda: whole(jobs)), default=float))
        return
    data: dict[str, Arrays] = {}
    replies: list[dict[str, Any]] = []
    for job in jobs:
        if job["data"] not in data:
            with np.load(job["data"]) as file:
                data = {job["data"]: {name: file[name] for name in file.files}}
        replies.append(_reply(prepare, job, data[job["data"]]))
    said.write_text(json.dumps(replies, default=float))


def timed(query: Draw) -> dict[str, Any]:
    """The answer, the seconds it took, and the largest resident size of this process as Linux keeps it."""
    begun = time.perf_counter()
    answer = query()
    seconds = time.perf_counter() - begun
    lines = Path("/proc/self/status").read_text().splitlines()
    kilobytes = next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
    return {"answer": answer, "seconds": seconds, "megabytes": kilobytes / 1024}


def totals(path: str) -> npt.NDArray[np.int64]:
    """What a peer without tables is given: the total of each person, by DuckDB."""
    import duckdb

    query = f"SELECT CAST(SUM(amount) AS BIGINT) AS s FROM read_parquet('{path}') GROUP BY person"
    return np.asarray(duckdb.connect().execute(query).fetchnumpy()["s"], dtype=np.int64)


def _reply(prepare: Prepare, job: Job, arrays: Arrays) -> dict[str, Any]:
    answers: list[Any] = []
    try:
        draw = prepare(job, arrays)
    except NotImplementedError:
        return {"unsupported": True}
    except Exception:  # a peer's refusal is a result
        return {"refused": True}
    begun, clock = time.process_time(), time.perf_counter()
    while len(answers) < job["runs"] and (not answers or time.process_time() - begun < job["seconds"]):
        answers.append(attempted(draw))
    seconds = (time.perf_counter() - clock) / len(answers)
    return {"refused": True} if all(map(_nothing, answers)) else {"answers": answers, "seconds": seconds}


def attempted(draw: Draw) -> Any:
    """A release, or nothing where the peer refuses it."""
    try:
        return draw()
    except Exception:
        return None


def _nothing(answer: Any) -> bool:
    return answer is None or (isinstance(answer, list) and all(one is None for one in answer))


def groups_of(arrays: Arrays) -> list[npt.NDArray[Any]]:
    """The values of each group; a person is in one group only."""
    return [arrays["value"][arrays["group"] == key] for key in range(int(arrays["groups"]))]
