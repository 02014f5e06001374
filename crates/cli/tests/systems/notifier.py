"""A service that takes work by a request and tells that it is done in another way: by a server-sent
event (`events`), or by a message of a web socket (`socket`). Only Python's standard library.
`--bug` tells of other work than it was given, `--die` ends when it is given 7."""

import base64
import hashlib
import json
import os
import queue
import struct
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

listeners = []


class Notifier(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status):
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_POST(self):
        size = int(self.headers.get("Content-Length", 0))
        body = json.loads(self.rfile.read(size) or b"{}")
        if self.path == "/reset":
            return self.answer(204)
        number = int(self.path.split("/")[2])
        if "--die" in sys.argv and number == 7:
            os._exit(1)
        self.answer(202)
        done = {"number": number + ("--bug" in sys.argv), "by": body["by"]}
        for listener in listeners:
            listener.put(json.dumps(done))

    def do_GET(self):
        mine = queue.Queue()
        if sys.argv[2] == "events":
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self.tell(mine, self.event)
        else:
            accepted = self.headers["Sec-WebSocket-Key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
            accepted = base64.b64encode(hashlib.sha1(accepted.encode()).digest()).decode()
            self.send_response(101)
            self.send_header("Upgrade", "websocket")
            self.send_header("Connection", "Upgrade")
            self.send_header("Sec-WebSocket-Accept", accepted)
            self.end_headers()
            self.tell(mine, self.message)

    def tell(self, mine, write):
        self.close_connection = True
        listeners.append(mine)
        try:
            while True:
                write(mine.get())
        except OSError:
            listeners.remove(mine)

    def event(self, text):
        # Cut in two, as a network may do.
        for part in ["event: done\nda", f"ta: {text}\n\n"]:
            self.wfile.write(f"{len(part):x}\r\n{part}\r\n".encode())
            self.wfile.flush()

    def message(self, text):
        ping = struct.pack("!BB", 0x89, 0)
        self.wfile.write(ping + struct.pack("!BB", 0x81, len(text)) + text.encode())
        self.wfile.flush()


server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Notifier)
print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
server.serve_forever()
