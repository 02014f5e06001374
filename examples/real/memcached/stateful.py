# The first model of this folder, written for Hypothesis: finds that decr keeps the length.
import json, socket, subprocess, sys, time
import hypothesis
from hypothesis import settings, strategies
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

SERVER = ["memcached", "-u", "nobody", "-l", "127.0.0.1", "-p", "11311", "-U", "0"]
began = time.monotonic()
first = None
ran = []


class Memcached(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.socket = socket.create_connection(("127.0.0.1", 11311), timeout=10)
        self.lines = self.socket.makefile("rb")
        self.kept = None
        self.ask("flush_all", "OK")
        ran.clear()

    def ask(self, text, expected):
        global first
        ran.append(text)
        self.socket.sendall(text.encode() + b"\r\n")
        reply = self.lines.readline().decode().removesuffix("\r\n")
        if reply.startswith("VALUE"):
            reply = " ".join(reply.split()[3:]) + " " + self.lines.readline().decode().strip()
            self.lines.readline()
        if reply != expected and first is None:
            first = time.monotonic() - began
        assert reply == expected, f"{text}: {reply} instead of {expected}"

    @rule(value=strategies.integers(0, 120))
    def set(self, value):
        self.ask(f"set a 0 0 {len(str(value))}\r\n{value}", "STORED")
        self.kept = value

    @rule()
    def get(self):
        self.ask("get a", "END" if self.kept is None else f"{len(str(self.kept))} {self.kept}")

    @rule()
    def delete(self):
        self.ask("delete a", "NOT_FOUND" if self.kept is None else "DELETED")
        self.kept = None

    @precondition(lambda self: self.kept is None or self.kept <= 170)
    @rule(by=strategies.integers(1, 30))
    def incr(self, by):
        self.kept = None if self.kept is None else self.kept + by
        self.ask(f"incr a {by}", "NOT_FOUND" if self.kept is None else str(self.kept))

    @rule(by=strategies.integers(1, 30))
    def decr(self, by):
        self.kept = None if self.kept is None else max(0, self.kept - by)
        self.ask(f"decr a {by}", "NOT_FOUND" if self.kept is None else str(self.kept))

    def teardown(self):
        self.socket.close()


LIMITS = settings(deadline=None, database=None, max_examples=1000, report_multiple_bugs=False)
server = subprocess.Popen(SERVER)
while socket.socket().connect_ex(("127.0.0.1", 11311)):
    time.sleep(0.02)
began = time.monotonic()
found = False
try:
    check = hypothesis.seed(int(sys.argv[1]))(Memcached)
    run_state_machine_as_test(check, settings=LIMITS)
except AssertionError:
    found = True
finally:
    server.kill()
seconds = time.monotonic() - began
print(json.dumps({"seconds": seconds, "first": first, "length": len(ran) if found else None}))
