"""Tests of MODEL_NAME, written by ioco from its model.

They start an adapter and speak the line protocol with it: one JSON object a line.

    IOCO_SUT="COMMAND" pytest THIS_FILE

A test fails where the system does what the model does not allow. It is skipped where the system
does something else that is right, so that the test cannot go on, and where this file cannot judge
a response because Python does not express the condition of the model.
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


# The parameters of the responses and the fields of the structures, with their types.
TYPES = read("MODEL_TYPES")


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
            text=True,
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
                try:
                    message = read(line)
                except ValueError:
                    message = None
                if not isinstance(message, dict):
                    message = {"error": f"the system sends what is not a message: {line!r}"}
                messages.put(message)
        messages.put({"error": "the system ended"})

    def _write(self, message):
        self.process.stdin.write(write(message) + "\n")
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


class Misfit(Exception):
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
    raise Misfit(f"{write(value)} is not of the type {name}")


def typed_fields(values, declared):
    for name in values:
        if name not in declared:
            raise Misfit(f'the model knows no "{name}" here')
    return {name: typed(values.get(name), kind) for name, kind in declared.items()}


def typed_response(name, values):
    """The values of a response by their types."""
    values = {} if values is None else values
    if not isinstance(values, dict):
        raise Misfit(f"{write(values)} are no values")
    why = None
    for declared in TYPES["responses"].get(name, []):
        try:
            return typed_fields(values, declared)
        except Misfit as misfit:
            why = misfit
    raise why or Misfit("the model has no such response")


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
        return message["typed"] == typed_response(allowed["response"], allowed.get("values"))
    if allowed["where"] is None:
        return None
    try:
        return truth(conditions[allowed["where"]](message["typed"]))
    except (ArithmeticError, TypeError, KeyError):
        return False


def otherwise(tree, position, message, conditions):
    """The branch that allows a response that was not planned, None where this file cannot tell;
    fails where there is none."""
    judged = []
    for branch in tree["branches"]:
        if branch["after"] == position:
            judged.append((fits(message, branch, conditions), branch))
    # It may have been on its way before the last stimulus was given.
    if position > 0 and "stimulus" in tree["steps"][position - 1]:
        for branch in tree["branches"]:
            if branch["after"] == position - 1:
                judged.append((fits(message, branch, conditions), {}))
    for fit, branch in judged:
        if fit:
            return branch
    if any(fit is None for fit, _ in judged):
        return None
    pytest.fail(f"step {position + 1}: {show(message)} is not allowed here")


def show(message):
    return write({name: message[name] for name in ("response", "values") if name in message})


def run(system, tree, conditions):
    system.reset()
    position = 0
    while True:
        point = tree["points"][position]
        at_end = position == len(tree["steps"])
        step = {} if at_end else tree["steps"][position]
        message = system.next(0 if "stimulus" in step else float(point["seconds"]))
        if message is not None:
            try:
                message["typed"] = typed_response(message["response"], message.get("values"))
            except Misfit as why:
                pytest.fail(f"step {position + 1}: {show(message)} is not allowed here: {why}")
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
            system.settled = True
            return
        elif "response" in step and fits(message, step, conditions):
            position += 1
        else:
            branch = otherwise(tree, position, message, conditions)
            if branch is None:
                pytest.skip(
                    f"inconclusive: {show(message)} at step {position + 1} could not be judged: "
                    "this file cannot express the condition of the model"
                )
            if at_end:
                system.settled = True
                return
            if "then" not in branch:
                pytest.skip(f"inconclusive: {show(message)} at step {position + 1} is right, but not the plan")
            tree, position = branch["then"], 0
