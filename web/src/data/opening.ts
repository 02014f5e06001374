/** Which source this page has: an embedded report, or the server it came from. */

import type { Report } from "./contract";
import { parseExact } from "./exact";
import { Embedded, Server, type Source } from "./source";

const KEY = "ioco-token";

export function openSource(): Source {
  const element = document.getElementById("ioco-report");
  const text = element?.textContent?.trim() ?? "";
  // An unfilled template has its placeholder there, which is not an object.
  if (text.startsWith("{")) return new Embedded(parseExact(text) as Report);
  return new Server(takeToken());
}

/** The token moves from the address to the session, so that it is not sent along with the address. */
function takeToken(): string {
  const address = new URL(location.href);
  const given = address.searchParams.get("token");
  if (given !== null) {
    remember(given);
    address.searchParams.delete("token");
    history.replaceState(null, "", address.pathname + address.search + address.hash);
    return given;
  }
  return remembered();
}

function remember(token: string): void {
  try {
    sessionStorage.setItem(KEY, token);
  } catch {
    // Without storage the token is asked for again after a reload.
  }
}

function remembered(): string {
  try {
    return sessionStorage.getItem(KEY) ?? "";
  } catch {
    return "";
  }
}
