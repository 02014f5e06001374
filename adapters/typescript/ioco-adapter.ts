/**
 * An adapter for ioco in TypeScript: one file, nothing to install (Node 18 or newer).
 *
 *     import { Adapter } from "./ioco-adapter.ts";
 *
 *     const adapter = new Adapter({
 *       reset: () => { code = undefined; },
 *       stimuli: {
 *         lock: ({ passcode }) => { code = passcode; adapter.respond("locked"); },
 *       },
 *     });
 *     adapter.run();
 *
 * Write a function for every stimulus of the model; it may be asynchronous. Call `respond` for
 * every response, at any time. Standard output belongs to ioco: what the program logs goes to
 * standard error. An exception ends the test with an error that shows it.
 */

import * as net from "node:net";
import * as readline from "node:readline";

/** A value of a model. Integers beyond 2^53 are read as `bigint`. */
export type Value =
  | null
  | boolean
  | number
  | bigint
  | string
  | Value[]
  | { [name: string]: Value };

export type Values = { [name: string]: Value };

export interface System {
  /** Brings the system into its initial state. Called before every test. */
  reset(): void | Promise<void>;
  /** What to do for each stimulus, by its name. */
  stimuli: { [name: string]: (values: any) => void | Promise<void> };
  /** The names of all responses, if ioco is to compare them with the model. */
  responses?: string[];
}

/** JSON with whole numbers of 64 bits as they are. */
function parse(line: string): any {
  const exact = line.replace(
    /("(?:[^"\\]|\\.)*")|(-?\d{16,})(?![\d.eE])/g,
    (all, text, digits) => text ?? (Number.isSafeInteger(Number(digits)) ? all : `{"$int":"${digits}"}`),
  );
  return JSON.parse(exact, (_, value) =>
    value !== null && typeof value === "object" && typeof value.$int === "string"
      ? BigInt(value.$int)
      : value,
  );
}

function write(value: unknown): string {
  if (typeof value === "bigint") return value.toString();
  if (Array.isArray(value)) return `[${value.map(write).join(",")}]`;
  if (value !== null && typeof value === "object") {
    const members = Object.entries(value).map(([name, each]) => `${JSON.stringify(name)}:${write(each)}`);
    return `{${members.join(",")}}`;
  }
  return JSON.stringify(value ?? null);
}

export class Adapter {
  private readonly system: System;
  private output: { write(text: string): unknown } | undefined;

  constructor(system: System) {
    this.system = system;
  }

  /** The system sends a response. */
  respond(name: string, values: Values = {}): void {
    this.say({ response: name, values });
  }

  /** The system will say nothing more before the next stimulus. Say it always or never. */
  quiescent(): void {
    this.say({ quiescent: true });
  }

  /** The system cannot be used any more. */
  error(message: string): void {
    this.say({ error: message });
  }

  /** Serves ioco on standard input and output, until it goes away. */
  async run(): Promise<void> {
    const stdout = process.stdout;
    console.log = console.info = console.debug = console.error;
    await this.serve(process.stdin, stdout);
  }

  /** Serves ioco over TCP: calls it at `HOST:PORT`, where it listens (`--tcp-listen`). */
  async connect(address: string): Promise<void> {
    const socket = net.connect(...place(address));
    await this.serve(socket, socket);
  }

  /** Serves ioco over TCP: is called by it at `HOST:PORT` (`--tcp`). */
  listen(address: string): net.Server {
    return net.createServer((socket) => void this.serve(socket, socket)).listen(...place(address));
  }

  private say(message: object): void {
    if (this.output === undefined) throw new Error("run() has not been called");
    this.output.write(write(message) + "\n");
  }

  private async serve(
    input: NodeJS.ReadableStream,
    output: { write(text: string): unknown },
  ): Promise<void> {
    this.output = output;
    if (this.system.responses !== undefined) {
      const stimuli = Object.keys(this.system.stimuli).map((name) => "?" + name);
      this.say({ labels: [...stimuli, ...this.system.responses.map((name) => "!" + name)] });
    }
    for await (const line of readline.createInterface({ input })) {
      if (line.trim() === "") continue;
      try {
        await this.handle(parse(line));
      } catch (failure) {
        console.error(failure);
        this.error(String(failure));
      }
    }
  }

  private async handle(message: { reset?: boolean; stimulus?: string; values?: Values }): Promise<void> {
    if (message.reset) {
      await this.system.reset();
      this.say({ ready: true });
      return;
    }
    const name = message.stimulus ?? "";
    const act = this.system.stimuli[name];
    if (act === undefined) throw new Error(`the adapter has nothing for the stimulus ${name}`);
    await act(message.values ?? {});
  }
}

function place(address: string): [number, string] {
  const colon = address.lastIndexOf(":");
  return [Number(address.slice(colon + 1)), address.slice(0, colon)];
}
