"""Tests of MODEL_NAME, written by ioco from its model.

They start an adapter and speak the line protocol with it: one JSON object a line.

    IOCO_SUT="COMMAND" pytest THIS_FILE

A test fails where the system does what the model does not allow. It is skipped where the system
does something else that is right, so that the test cannot go on.
"""

import json
import os
import queue
import signal
import subprocess
import threading

import pytest

COMMAND = os.environ.get("IOCO_SUT") or "SYSTEM_COMMAND"
READY_WITHIN = 10.0


class System:
    def __init__(self, command):
        self.process = subprocess.Popen(
            command,
            shell=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.messages = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            if line.strip():
                self.messages.put(json.loads(line))
        self.messages.put({"error": "the system ended"})

    def _write(self, message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def reset(self):
        self._write({"reset": True})
        while True:
            try:
                message = self.messages.get(timeout=READY_WITHIN)
            except queue.Empty:
                raise RuntimeError("the system does not get ready") from None
            if "error" in message:
                raise RuntimeError(message["error"])
            if message.get("ready"):
                return

    def give(self, step):
        self._write({"stimulus": step["stimulus"], "values": step["values"]})

    def next(self, seconds):
        """The next response, or None for silence."""
        while True:
            try:
                message = self.messages.get(timeout=seconds) if seconds else self.messages.get_nowait()
            except queue.Empty:
                return None
            if "error" in message:
                raise RuntimeError(message["error"])
            if "response" in message:
                values = message.get("values") or {}
                set_ones = {name: v for name, v in values.items() if v is not None}
                return {"response": message["response"], "values": set_ones}
            # That the system says it is silent saves waiting, which this file does not need.

    def close(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()


@pytest.fixture(scope="module")
def system():
    if not COMMAND:
        pytest.fail("say how to start the system: IOCO_SUT=COMMAND pytest ...")
    started = System(COMMAND)
    yield started
    started.close()


def same(left, right):
    # True is 1 in Python, and is not here; 2.50 is 2.5.
    return isinstance(left, bool) == isinstance(right, bool) and left == right


def fits(message, allowed, conditions):
    """True, False, or None where this file cannot tell."""
    if message["response"] != allowed["response"]:
        return False
    values = message["values"]
    if "values" in allowed:
        wanted = allowed["values"]
        return wanted.keys() == values.keys() and all(same(values[n], wanted[n]) for n in wanted)
    if allowed["where"] is None:
        return None
    try:
        return bool(conditions[allowed["where"]](values))
    except (KeyError, TypeError):
        return False


def otherwise(tree, position, message, conditions):
    """The branch that allows a response that was not planned; fails where there is none."""
    for branch in tree["branches"]:
        if branch["after"] == position and fits(message, branch, conditions) is not False:
            return branch
    # It may have been on its way before the last stimulus was given.
    if position > 0 and "stimulus" in tree["steps"][position - 1]:
        for branch in tree["branches"]:
            if branch["after"] == position - 1 and fits(message, branch, conditions) is not False:
                return {}
    pytest.fail(f"step {position + 1}: {message} is not allowed here")


def run(system, tree, conditions):
    system.reset()
    position = 0
    while True:
        point = tree["points"][position]
        at_end = position == len(tree["steps"])
        step = {} if at_end else tree["steps"][position]
        message = system.next(0 if "stimulus" in step else point["seconds"])
        if message is None and "stimulus" in step:
            system.give(step)
            position += 1
        elif message is None and not point["silence"]:
            pytest.fail(f"step {position + 1}: silence for {point['seconds']} s, where a response is due")
        elif message is None and "silence" in step:
            position += 1
        elif message is None and not at_end:
            pytest.skip(f"inconclusive: silence at step {position + 1}")
        elif message is None:
            return
        elif "response" in step and fits(message, step, conditions):
            position += 1
        else:
            branch = otherwise(tree, position, message, conditions)
            if at_end:
                return
            if "then" not in branch:
                pytest.skip(f"inconclusive: {message} at step {position + 1} is right, but not the plan")
            tree, position = branch["then"], 0
