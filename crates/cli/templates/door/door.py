"""A door with a lock, and with a bug for you to find: the system under test.

It reads one JSON object a line and answers with one or more. Every adapter
for ioco looks like this, in whatever language you like.
"""

import json
import sys


class Door:
    def __init__(self):
        self.state = "closed"
        self.code = None

    def give(self, stimulus, values):
        if stimulus == "open" and self.state == "closed":
            self.state = "opened"
            return "opened"
        if stimulus == "close" and self.state == "opened":
            self.state = "closed"
            return "closed"
        if stimulus == "lock" and self.state == "closed":
            self.state = "locked"
            if self.code is None:
                self.code = values["code"]
            return "locked"
        if stimulus == "unlock" and self.state == "locked" and values["code"] == self.code:
            self.state = "closed"
            return "unlocked"
        return "refused"


def say(message):
    print(json.dumps(message), flush=True)


door = Door()
for line in sys.stdin:
    message = json.loads(line)
    if message.get("reset"):
        door = Door()
        say({"ready": True, "quiescent": True})
    else:
        answer = door.give(message["stimulus"], message["values"])
        say({"response": answer, "values": {}})
        say({"quiescent": True})  # nothing more will come by itself: saves the tester the wait
