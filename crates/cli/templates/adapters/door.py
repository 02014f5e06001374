"""A door with a lock, and with a bug for you to find: the system under test.

`ioco_adapter.py` beside this file speaks with ioco; what stands here is the door.
"""

from ioco_adapter import Adapter


class Door(Adapter):
    responses = ["opened", "closed", "locked", "unlocked", "refused"]

    def reset(self) -> None:
        self.state = "closed"
        self.code = None

    def answer(self, response: str) -> None:
        self.respond(response)
        self.quiescent()  # nothing more will come by itself: saves the tester the wait

    def on_open(self) -> None:
        if self.state == "closed":
            self.state = "opened"
        self.answer("opened" if self.state == "opened" else "refused")

    def on_close(self) -> None:
        if self.state == "opened":
            self.state = "closed"
        self.answer("closed" if self.state == "closed" else "refused")

    def on_lock(self, code: int) -> None:
        if self.state != "closed":
            return self.answer("refused")
        self.state = "locked"
        if self.code is None:
            self.code = code
        self.answer("locked")

    def on_unlock(self, code: int) -> None:
        if self.state != "locked" or code != self.code:
            return self.answer("refused")
        self.state = "closed"
        self.answer("unlocked")


if __name__ == "__main__":
    Door().run()
