"""A queue that speaks plain lines over TCP, one socket for what goes in and one for what comes out:
`PUT 7` and `TAKE` on the first, `ITEM 7` and `EMPTY` on the second. A new connection is a new
queue. `--bug` forgets an item when there are three."""

import socket
import sys


def listen(port):
    server = socket.create_server(("127.0.0.1", port))
    return server


inlet, outlet = listen(int(sys.argv[1])), listen(int(sys.argv[2]))
print(inlet.getsockname()[1], outlet.getsockname()[1], flush=True)
while True:
    incoming, outgoing = inlet.accept()[0], outlet.accept()[0]
    items = []
    with incoming, outgoing:
        try:
            for line in incoming.makefile("r"):
                word, _, number = line.strip().partition(" ")
                if word == "PUT":
                    items.append(int(number))
                    if "--bug" in sys.argv and len(items) == 3:
                        del items[1]
                elif items:
                    outgoing.sendall(f"ITEM {items.pop(0)}\n".encode())
                else:
                    outgoing.sendall(b"EMPTY\n")
        except OSError:
            pass
