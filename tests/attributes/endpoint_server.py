"""An OpenAI-compatible server on the loopback interface that answers as a test says, and remembers questions."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Reply = tuple[int, Any]
"""Status, and a value for JSON, or bytes as they are; None to answer nothing until the test ends."""


@dataclass
class Served:
    """What a server was asked. most: requests that were under way at once."""

    url: str
    asked: list[tuple[str, dict[str, Any], str]] = field(default_factory=list)
    most: int = 0

    @property
    def prompts(self) -> list[str]:
        return [question["messages"][0]["content"] for _, question, _ in self.asked]


@contextmanager
def endpoint(reply: Callable[[int, dict[str, Any]], Reply]) -> Iterator[Served]:
    """Serves until the block ends. reply: from the number of a request and its question."""
    ended, lock, under_way = threading.Event(), threading.Lock(), [0]

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                number = len(served.asked)
                served.asked.append((self.path, question, self.headers.get("Authorization", "")))
                under_way[0] += 1
                served.most = max(served.most, under_way[0])
            status, value = reply(number, question)
            content = value if isinstance(value, bytes) else json.dumps(value).encode()
            with lock:
                under_way[0] -= 1
            if value is None:
                ended.wait()
                return
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    served = Served(f"http://127.0.0.1:{server.server_address[1]}/v1")
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield served
    finally:
        ended.set()
        server.shutdown()
        thread.join()
        server.server_close()


def said(content: Any) -> dict[str, Any]:
    """The answer of a chat."""
    return {"choices": [{"message": {"role": "assistant", "content": content}}]}


def length(question: dict[str, Any]) -> str:
    """What a model says that scores texts by their length."""
    text = question["messages"][0]["content"].partition("TEXT:")[2]
    return f"I think about it. Score: {len(text) % 6}"
