"""The controller as a system under test: one JSON object a line on standard input and output.

python3 system.py           the right one
python3 system.py --mutant  a reset does not end the override
"""

import json
import sys

forgets_reset = "--mutant" in sys.argv


def say(message):
    print(json.dumps(message), flush=True)


def state():
    values = {"overridden": overridden, "injection": injection, "count": count}
    say({"response": "state", "values": values})


for line in sys.stdin:
    message = json.loads(line)
    if "reset" in message:
        say({"ready": True})
    elif message["stimulus"] == "start":
        overridden, injection, count = False, "off", 0
        state()
    elif message["stimulus"] == "step":
        given = message["values"]
        if given["pressure"] == "high" or (given["reset"] and not forgets_reset):
            overridden = False
        elif given["block"] and given["pressure"] == "low":
            overridden = True
        before = injection
        injection = "on" if given["pressure"] == "low" and not overridden else "off"
        if before == "off" and injection == "on":
            count = min(count + 1, 3)
        state()
