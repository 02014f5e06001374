"""An adapter for ioco in Python: one file, nothing to install (Python 3.8 or newer).

    from ioco_adapter import Adapter

    class Lock(Adapter):
        def reset(self) -> None:
            self.code = None

        def on_lock(self, passcode: int) -> None:
            self.code = passcode
            self.respond("locked")

    Lock().run()

For every stimulus of the model write a method `on_NAME`, with the stimulus' parameters as its own.
Call `respond` for every response, also from other threads and at any time. Then

    ioco test lock.aml --sut "python3 lock.py"

Standard output belongs to ioco: what the program prints goes to standard error instead. An
exception ends the test with an error that shows it.
"""

from __future__ import annotations

import inspect
import json
import socket
import sys
import threading
import traceback
from decimal import Decimal
from typing import Any, Dict, IO, List, Optional

__all__ = ["Adapter"]


class _Encoder(json.JSONEncoder):
    """Decimals with all their digits, as ioco reads them."""

    def default(self, value: Any) -> Any:
        if isinstance(value, Decimal):
            return _Number(value)
        return super().default(value)


class _Number(float):
    """A decimal that is written as it is, not as the nearest float."""

    def __new__(cls, value: Decimal) -> "_Number":
        self = super().__new__(cls, value)
        self.text = format(value, "f")  # type: ignore[attr-defined]
        return self

    def __repr__(self) -> str:
        return self.text  # type: ignore[attr-defined, no-any-return]


class Adapter:
    """The system under test, or what stands between it and ioco."""

    def __init__(self) -> None:
        self._writing = threading.Lock()
        self._out: Optional[IO[str]] = None

    # -- to be written for each system

    def reset(self) -> None:
        """Bring the system into its initial state. Called before every test."""

    def stimulus(self, name: str, values: Dict[str, Any]) -> None:
        """A stimulus. Calls `on_NAME`; write your own where that is of no use."""
        method = getattr(self, "on_" + name.replace(".", "_"), None)
        if method is None:
            raise LookupError(f"the adapter has no method on_{name}")
        method(**values)

    # -- to be called

    def respond(self, name: str, **values: Any) -> None:
        """The system sends a response."""
        self._say({"response": name, "values": values})

    def quiescent(self) -> None:
        """The system will say nothing more before the next stimulus. Saves ioco the wait; say it
        after every stimulus or never."""
        self._say({"quiescent": True})

    def error(self, message: str) -> None:
        """The system cannot be used any more."""
        self._say({"error": message})

    def run(self, address: Optional[str] = None, listen: bool = False) -> None:
        """Serve ioco until it goes away: on standard input and output, or over TCP at
        `HOST:PORT`, where the adapter calls ioco (`--tcp-listen`) or, with `listen`, is called
        (`--tcp`)."""
        if address is None:
            self._out, sys.stdout = sys.stdout, sys.stderr
            self._serve(sys.stdin)
            return
        host, _, port = address.rpartition(":")
        if not listen:
            self._converse(socket.create_connection((host, int(port))))
            return
        with socket.create_server((host, int(port))) as server:
            while True:
                self._converse(server.accept()[0])

    # -- inside

    def _converse(self, connection: socket.socket) -> None:
        with connection, connection.makefile("r", encoding="utf-8") as lines:
            self._out = connection.makefile("w", encoding="utf-8")
            try:
                self._serve(lines)
            except OSError:
                pass  # ioco has gone.

    def _say(self, message: Dict[str, Any]) -> None:
        with self._writing:
            if self._out is None:
                raise RuntimeError("run() has not been called")
            self._out.write(json.dumps(message, cls=_Encoder) + "\n")
            self._out.flush()

    def _announce(self) -> None:
        names: List[str] = [
            "?" + name[3:]
            for name, _ in inspect.getmembers(type(self), inspect.isfunction)
            if name.startswith("on_")
        ]
        responses = getattr(self, "responses", None)
        if names and responses is not None:
            self._say({"labels": names + ["!" + name for name in responses]})

    def _serve(self, lines: IO[str]) -> None:
        self._announce()
        for line in lines:
            if not line.strip():
                continue
            try:
                message = json.loads(line, parse_float=Decimal)
                if message.get("reset"):
                    self.reset()
                    self._say({"ready": True})
                else:
                    self.stimulus(message["stimulus"], message.get("values") or {})
            except Exception as failure:  # noqa: BLE001: whatever it is, ioco should show it
                traceback.print_exc(file=sys.stderr)
                self.error(f"{type(failure).__name__}: {failure}")
