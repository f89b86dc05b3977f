"""The real app under uvicorn, with a side door: commands on stdin, one JSON object a line, answered on stdout.

`python -m bench.driving.training_server PORT`, under the base path `/lab`. {"submit": configuration}, or
{"pause" | "resume" | "stop" | "wants": run id}, each with {"visitor": id} where it is somebody's in particular, or
{"sent": run id}, which gives the times at which its records arrived at the scheduler, by their numbers.
"""

import json
import sys
import threading
import time

import uvicorn
from streamlit.config import set_option

from dashboard.asked.config import RaceConfig
from dashboard.engine.engine import Engine, running_engine


def obey() -> None:
    while (engine := running_engine()) is None:
        time.sleep(0.02)
    for line in sys.stdin:
        (verb, value), *rest = json.loads(line).items()
        if verb == "sent":
            answer = sent(engine, value)
        else:
            answer = getattr(engine, verb)(RaceConfig.make(value) if verb == "submit" else value, **dict(rest))
        print(json.dumps({verb: answer}), flush=True)


def sent(engine: Engine, run: str) -> dict[int, float]:
    """When the last lane's record of each number was there."""
    assert engine.cluster is not None
    said = engine.cluster.client.get_events(engine.dispatcher.topic)
    own = [(at, note) for at, note in said if note["key"].startswith(f"pack-{run}-") and "records" in note]
    return {record[1]: at for at, note in own for record in note["records"]}


def main() -> None:
    set_option("server.baseUrlPath", "lab")  # before the app makes its routes, as `streamlit run` would
    from app import app

    threading.Thread(target=obey, daemon=True).start()
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning", ws_per_message_deflate=False)


if __name__ == "__main__":
    main()
