// A door with a lock, and with a bug for you to find: the system under test.
//
// It reads one JSON object a line and answers with one or more. In TypeScript, a small library
// does that for you: adapters/typescript in the sources of ioco.

import { createInterface } from "node:readline";

let state = "closed";
let code = null;

function give(stimulus, values) {
  if (stimulus === "open" && state === "closed") {
    state = "opened";
    return "opened";
  }
  if (stimulus === "close" && state === "opened") {
    state = "closed";
    return "closed";
  }
  if (stimulus === "lock" && state === "closed") {
    state = "locked";
    code ??= values.code;
    return "locked";
  }
  if (stimulus === "unlock" && state === "locked" && values.code === code) {
    state = "closed";
    return "unlocked";
  }
  return "refused";
}

const say = (message) => process.stdout.write(JSON.stringify(message) + "\n");

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  if (message.reset) {
    state = "closed";
    code = null;
    say({ ready: true, quiescent: true });
  } else {
    say({ response: give(message.stimulus, message.values), values: {} });
    say({ quiescent: true }); // nothing more will come by itself: saves the tester the wait
  }
}
