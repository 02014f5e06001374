# The model of this folder, written for Hypothesis: finds the deviation of CPython's smtpd.
import json, socket, subprocess, sys, time
import hypothesis
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

SERVER = "exec python3 -W ignore -m smtpd -n -c smtpd.DebuggingServer 127.0.0.1:PORT 127.0.0.1:1"
PORT = 8025
began = time.monotonic()
first = None
ran = []


class Smtp(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.socket = socket.create_connection(("127.0.0.1", PORT), timeout=10)
        self.lines = self.socket.makefile("rb")
        self.phase = 0
        self.writing = self.over = False
        ran.clear()
        assert self.reply() == 220

    def reply(self):
        line = self.lines.readline()
        while line[3:4] == b"-":
            line = self.lines.readline()
        return int(line[:3])

    def ask(self, text, expected):
        global first
        ran.append(text)
        self.socket.sendall(text.encode() + b"\r\n")
        code = self.reply()
        if code != expected and first is None:
            first = time.monotonic() - began
        assert code == expected, f"{text}: {code} instead of {expected}"

    def commands(self):
        return not self.writing and not self.over

    @precondition(commands)
    @rule()
    def ehlo(self):
        self.ask("EHLO tester", 250)
        self.phase = 1

    @precondition(commands)
    @rule()
    def helo(self):
        self.ask("HELO tester", 250)
        self.phase = 1

    @precondition(commands)
    @rule()
    def mail(self):
        self.ask("MAIL FROM:<a@example.org>", 250 if self.phase == 1 else 503)
        self.phase = 2 if self.phase == 1 else self.phase

    @precondition(commands)
    @rule()
    def rcpt(self):
        self.ask("RCPT TO:<b@example.org>", 250 if self.phase >= 2 else 503)
        self.phase = 3 if self.phase == 2 else self.phase

    @precondition(commands)
    @rule()
    def data(self):
        self.ask("DATA", 354 if self.phase == 3 else 503)
        self.writing = self.phase == 3

    @precondition(lambda self: self.writing and not self.over)
    @rule()
    def text(self):
        self.ask("Subject: hello\r\n\r\none line\r\n.", 250)
        self.writing = False
        self.phase = 1

    @precondition(commands)
    @rule()
    def rset(self):
        self.ask("RSET", 250)
        self.phase = min(self.phase, 1)

    @precondition(commands)
    @rule()
    def noop(self):
        self.ask("NOOP", 250)

    @precondition(commands)
    @rule()
    def quit(self):
        self.ask("QUIT", 221)
        self.over = True
        try:
            assert self.lines.readline() == b""
        except ConnectionError:
            pass  # closed as well

    @precondition(lambda self: self.over)
    @rule()
    def rest(self):
        pass  # Hypothesis has no way to end a run here

    def teardown(self):
        self.socket.close()


LIMITS = settings(deadline=None, database=None, max_examples=1000, report_multiple_bugs=False)
server = subprocess.Popen(SERVER.replace("PORT", str(PORT)), shell=True, stdout=subprocess.DEVNULL)
while socket.socket().connect_ex(("127.0.0.1", PORT)):
    time.sleep(0.02)
began = time.monotonic()
found = False
try:
    check = hypothesis.seed(int(sys.argv[1]))(Smtp)
    run_state_machine_as_test(check, settings=LIMITS)
except AssertionError:
    found = True
finally:
    server.kill()
seconds = time.monotonic() - began
print(json.dumps({"seconds": seconds, "first": first, "length": len(ran) if found else None}))
