"""A shop with an HTTP interface: orders are made, paid and cancelled; payments are told of as
server-sent events. `--bug` lets a cancelled order be paid."""

import json
import queue
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

orders = {}
listeners = []


class Shop(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body=None):
        data = json.dumps(body).encode() if body is not None else b""
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def read(self):
        size = int(self.headers.get("Content-Length", 0))
        return json.loads(self.rfile.read(size) or b"{}")

    def do_GET(self):
        if self.path != "/events":
            return self.answer(404)
        mine = queue.Queue()
        listeners.append(mine)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        try:
            while True:
                name, data = mine.get()
                self.wfile.write(f"event: {name}\ndata: {json.dumps(data)}\n\n".encode())
                self.wfile.flush()
        except OSError:
            listeners.remove(mine)

    def do_POST(self):
        body = self.read()
        if self.path == "/reset":
            orders.clear()
            return self.answer(200)
        if self.path == "/orders":
            if not 1 <= body["amount"] <= 100:
                return self.answer(422, {"problem": "amount"})
            number = len(orders) + 1
            orders[number] = "open"
            return self.answer(201, {"id": number, "amount": body["amount"], "state": "open"})
        number = int(self.path.split("/")[2])
        if number not in orders:
            return self.answer(404)
        payable = ["open", "cancelled"] if "--bug" in sys.argv else ["open"]
        if orders[number] not in payable:
            return self.answer(409)
        orders[number] = "paid"
        self.answer(200, {"id": number, "state": "paid"})
        for listener in listeners:
            listener.put(("paid", {"id": number}))

    def do_DELETE(self):
        number = int(self.path.split("/")[2])
        if orders.get(number) != "open":
            return self.answer(409 if number in orders else 404)
        orders[number] = "cancelled"
        self.answer(204)


server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Shop)
print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
server.serve_forever()
