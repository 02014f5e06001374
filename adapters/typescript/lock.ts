/** A lock that opens with the code it was locked with, and the adapter to it in one. */

import { Adapter } from "./ioco-adapter.ts";

let code: number | undefined;

const adapter = new Adapter({
  reset: () => {
    code = undefined;
  },
  responses: ["locked", "unlocked", "incorrect"],
  stimuli: {
    lock: ({ passcode }: { passcode: number }) => {
      code = passcode;
      adapter.respond("locked");
    },
    unlock: ({ passcode }: { passcode: number }) => {
      if (code === passcode) {
        code = undefined;
        adapter.respond("unlocked");
      } else {
        adapter.respond("incorrect");
      }
    },
  },
});

void adapter.run();
