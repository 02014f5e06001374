"""Tests of MODEL_NAME, written by ioco from its model.

They start an adapter and speak the line protocol with it: one JSON object a line.

    IOCO_SUT="COMMAND" pytest THIS_FILE

A test fails where the system does what the model does not allow. It is skipped where the system
does something else that is right, so that the test cannot go on, and where this file cannot judge
a response because Python does not express the condition of the model. A response that comes after
a stimulus may have been sent before it: a test fails only where no order explains what was seen.
"""

import decimal
import json
import os
import queue
import signal
import subprocess
import threading

import pytest

COMMAND = os.environ.get("IOCO_SUT") or "SYSTEM_COMMAND"
READY_WITHIN = 10.0


def number(text):
    """A number of JSON, exactly: a float would round it."""
    if len(text) < 100 and text.lstrip("-").isdigit():
        return int(text)
    try:
        return decimal.Decimal(text)
    except decimal.InvalidOperation:
        # Too large or too small for any type, unless it is zero.
        is_zero = not text.lower().split("e")[0].strip("-0.")
        return 0 if is_zero else decimal.Decimal("Infinity")


def no_number(text):
    raise ValueError(f"{text} is not JSON")


def read(text):
    return json.loads(text, parse_int=number, parse_float=number, parse_constant=no_number)


def write(value):
    if isinstance(value, decimal.Decimal):
        return format(value, "f")
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(n)}:{write(v)}" for n, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(write, value)) + "]"
    return json.dumps(value)


# The parameters of the responses and the fields of the structures, with their types; and the
# names of the responses with their channels.
TYPES = read("MODEL_TYPES")


def understood(line):
    """A line of the system: a response, that it is ready, or an error; else nothing of interest."""
    message = None
    try:
        message = read(line.decode())
    except (ValueError, RecursionError):
        pass
    if isinstance(message, dict):
        said = {name: value for name, value in message.items() if value is not None}
        flags = all(isinstance(said.get(name, True), bool) for name in ("ready", "quiescent"))
        if flags and "response" in said:
            name, values = said["response"], said.get("values", {})
            if isinstance(name, str) and isinstance(values, dict):
                return {"response": TYPES["names"].get(name, name), "values": values}
        elif flags and "error" in said:
            return {"error": write(said["error"])}
        elif flags and said.get("ready"):
            return {"ready": True}
        elif flags and (said.get("quiescent") or "labels" in said):
            # That the system says it is silent saves waiting, which this file does not need.
            return {}
    return {"error": f"the system sends what is not a message: {line!r}"}


class System:
    def __init__(self, command):
        self.command = command
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            self.command,
            shell=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        self.messages = queue.Queue()
        # Whether the last test ended as planned. Otherwise late responses may still be on their way.
        self.settled = True
        threading.Thread(target=self._read, args=(self.process.stdout, self.messages), daemon=True).start()

    @staticmethod
    def _read(lines, messages):
        for line in lines:
            if line.strip():
                messages.put(understood(line))
        messages.put({"error": "the system ended"})

    def _write(self, message):
        self.process.stdin.write(write(message).encode() + b"\n")
        self.process.stdin.flush()

    def reset(self):
        if not self.settled:
            self.close()
            self.start()
        self.settled = False
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
                return message

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


class Rejected(Exception):
    """A value that is not one of its type."""


def holds(value):
    """Whether a number is one of the model's decimals: 96 bits, at most 28 places."""
    _, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int):
        return False
    text = "".join(map(str, digits)).lstrip("0")
    kept = text.rstrip("0")
    exponent += len(text) - len(kept)
    if not kept:
        return True
    if len(kept) > 29 or not -28 <= exponent <= 28:
        return False
    return int(kept) * 10 ** max(exponent, 0) < 2**96


def is_number(value):
    return isinstance(value, (int, decimal.Decimal)) and not isinstance(value, bool)


def typed(value, kind):
    """A value of JSON as one of its type; what is unset is None."""
    if value is None:
        return None
    name, of = kind
    if is_number(value) and name in ("integer", "decimal"):
        exact = decimal.Decimal(value)
        if name == "decimal" and holds(exact):
            return exact
        if name == "integer" and (isinstance(value, int) or holds(exact)):
            if value == int(value) and of[0] <= value <= of[1]:
                return int(value)
    if name == "boolean" and isinstance(value, bool):
        return value
    if name == "string" and isinstance(value, str):
        if not any("\ud800" <= c <= "\udfff" for c in value):
            return value
    if name == "enum" and isinstance(value, str) and value in of:
        return value
    if name == "array" and isinstance(value, list):
        return [typed(item, of) for item in value]
    if name == "struct" and isinstance(value, dict):
        return typed_fields(value, TYPES["structs"][of])
    raise Rejected(f"{write(value)} is not of the type {name}")


def typed_fields(values, declared):
    for name in values:
        if name not in declared:
            raise Rejected(f'the model knows no "{name}" here')
    return {name: typed(values.get(name), kind) for name, kind in declared.items()}


def typed_response(name, values):
    """The values of a response by their types."""
    if name not in TYPES["responses"]:
        raise Rejected("the model has no such response")
    return typed_fields(values, TYPES["responses"][name])


# What conditions are made of. An operation on values that it is not for, and a result that is too
# large, make the condition false.


def truth(value):
    if not isinstance(value, bool):
        raise TypeError("not a condition")
    return value


def equal(left, right):
    return isinstance(left, bool) == isinstance(right, bool) and left == right


def unequal(left, right):
    return not equal(left, right)


def less(left, right):
    if is_number(left) and is_number(right) or isinstance(left, str) and isinstance(right, str):
        return left < right
    raise TypeError("not ordered")


def at_most(left, right):
    return not less(right, left)


def more(left, right):
    return less(right, left)


def at_least(left, right):
    return not less(left, right)


def within(value, low, high):
    above, below = at_most(low, value), at_most(value, high)
    return above and below


EXACT = decimal.Context(prec=200)


def arithmetic(left, right, integers, decimals):
    if not (is_number(left) and is_number(right)):
        raise TypeError("not numbers")
    if isinstance(left, int) and isinstance(right, int):
        result = integers(left, right)
        if not -(2**63) <= result < 2**63:
            raise OverflowError("more than 64 bits")
        return result
    result = decimals(decimal.Decimal(left), decimal.Decimal(right))
    if not holds(result):
        raise OverflowError("not a decimal of the model")
    return result


def plus(left, right):
    if isinstance(left, str) and isinstance(right, str):
        return left + right
    return arithmetic(left, right, int.__add__, EXACT.add)


def minus(left, right):
    return arithmetic(left, right, int.__sub__, EXACT.subtract)


def times(left, right):
    return arithmetic(left, right, int.__mul__, EXACT.multiply)


def negative(value):
    return minus(0, value)


def fits(message, allowed, conditions):
    """True, False, or None where this file cannot tell."""
    if message["response"] != allowed["response"]:
        return False
    if "where" not in allowed:
        free = allowed.get("free", [])
        wanted = typed_response(allowed["response"], allowed["values"])
        return all(message["typed"][name] == wanted[name] for name in wanted if name not in free)
    if allowed["where"] is None:
        return None
    try:
        return truth(conditions[allowed["where"]](message["typed"]))
    except (ArithmeticError, TypeError, KeyError):
        return False


class Place:
    """Where a test may be: the first steps of a tree are done. The system may not have seen the
    stimuli from the step `seen` on when it sends its next response."""

    def __init__(self, tree, position=0, seen=0):
        self.tree, self.position, self.seen = tree, position, seen
        self.point = tree["points"][position]
        self.at_end = position == len(tree["steps"])
        self.step = {} if self.at_end else tree["steps"][position]

    def after_stimulus(self, step):
        """None where another step is planned."""
        return Place(self.tree, self.position + 1, self.seen) if self.step == step else None

    def after_silence(self):
        """None where another step is planned."""
        return Place(self.tree, self.position + 1, self.position + 1) if "silence" in self.step else None

    def after_response(self, message, conditions):
        """For every number of stimuli that the system may have seen: whether the response is right,
        and the place after it, None where the test does not go on from there."""
        steps = self.tree["steps"]
        for position in range(self.position, self.seen - 1, -1):
            right, place = Place(self.tree, position).answered(message, conditions)
            for step in steps[position : self.position]:
                place = place and place.after_stimulus(step)
            yield right, place

    def answered(self, message, conditions):
        if "response" in self.step and fits(message, self.step, conditions):
            return True, Place(self.tree, self.position + 1, self.position + 1)
        branches = [b for b in self.tree["branches"] if b["after"] == self.position]
        judged = [fits(message, branch, conditions) for branch in branches]
        for right, branch in zip(judged, branches):
            if right:
                return True, Place(branch["then"]) if "then" in branch else None
        return None if None in judged else False, None


# So many orders of stimuli and responses are followed.
MAX_PLACES = 64


def show(message):
    return write({name: message[name] for name in ("response", "values") if name in message})


def run(system, tree, conditions):
    system.reset()
    # One for every order in which stimuli and responses may have crossed; the test follows the first.
    places = [Place(tree)]
    # Whether there is an order that is right and not among them.
    lost = False

    def wrong(what):
        if lost:
            pytest.skip(
                f"inconclusive: {what}, which cannot be judged: "
                "an earlier response may have been sent before a stimulus that crossed it"
            )
        pytest.fail(what)

    while True:
        place = places[0]
        at = f"step {place.position + 1}"
        gives = "stimulus" in place.step
        seconds = max(float(place.point["seconds"]) for place in places)
        message = system.next(0 if gives else seconds)
        if message is None and gives:
            system.give(place.step)
            given = place.step
            after = [place.after_stimulus(given) for place in places]
        elif message is None:
            places = [place for place in places if place.point["silence"]]
            if not places:
                wrong(f"{at}: silence for {seconds} s, where a response is due")
            if places[0].at_end:
                system.settled = True
                return
            after = [place.after_silence() for place in places]
            if after[0] is None:
                pytest.skip(f"inconclusive: silence at {at}")
        else:
            try:
                message["typed"] = typed_response(message["response"], message["values"])
            except Rejected as why:
                wrong(f"{at}: {show(message)} is not allowed here: {why}")
            judged = [found for place in places for found in place.after_response(message, conditions)]
            if place.at_end and judged[0][0]:
                system.settled = True
                return
            after = [place for right, place in judged if right is not False]
            if not after:
                wrong(f"{at}: {show(message)} is not allowed here")
            if not any(after):
                why = "is right, but not the plan"
                if not any(right for right, _ in judged):
                    why = "could not be judged: this file cannot express the condition of the model"
                pytest.skip(f"inconclusive: {show(message)} at {at} {why}")
        places = [place for place in after if place is not None]
        lost = lost or len(places) < len(after) or len(places) > MAX_PLACES
        del places[MAX_PLACES:]
