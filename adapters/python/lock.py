"""A lock that opens with the code it was locked with, and the adapter to it in one."""

from typing import Optional

from ioco_adapter import Adapter


class Lock(Adapter):
    responses = ["locked", "unlocked", "incorrect"]

    def reset(self) -> None:
        self.code: Optional[int] = None

    def on_lock(self, passcode: int) -> None:
        self.code = passcode
        self.respond("locked")

    def on_unlock(self, passcode: int) -> None:
        if passcode == self.code:
            self.code = None
            self.respond("unlocked")
        else:
            self.respond("incorrect")


if __name__ == "__main__":
    Lock().run()
