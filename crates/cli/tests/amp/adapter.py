"""An adapter of the plugin-adapter protocol, as the public ones behave, for tests.

It has its own copy of the wire format and nothing of ioco in it: only Python's standard library.
Between ioco and the door it does what the public Python adapter does: it announces itself when the
socket opens, connects to the door when it is configured, echoes a stimulus before it passes it on,
and after a close it connects again. `--behave` makes it misbehave in one way.

With `--system echo` there is no door: it says back what it is told, value by value, each taken apart
and put together again. With `--units thousandths` it counts as the public Python adapter does: dates
in milliseconds and times in microseconds.
"""

import argparse
import base64
import os
import socket
import ssl
import struct
import sys
import threading
import time


# ---- WebSocket ------------------------------------------------------------------------------

class Closed(Exception):
    def __init__(self, code):
        super().__init__(code)
        self.code = code


class WebSocket:
    """The client's side of RFC 6455, as much of it as is needed."""

    def __init__(self, url, headers=(), context=None):
        scheme, rest = url.split("://", 1)
        host, _, path = rest.partition("/")
        name, _, port = host.partition(":")
        self.socket = socket.create_connection((name, int(port or 80)), timeout=20)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if scheme == "wss":
            self.socket = context.wrap_socket(self.socket, server_hostname=name)
        key = base64.b64encode(os.urandom(16)).decode()
        lines = [f"GET /{path} HTTP/1.1", f"Host: {host}", "Upgrade: websocket",
                 "Connection: Upgrade", f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13",
                 *headers]
        self.socket.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        self.buffer = b""
        while b"\r\n\r\n" not in self.buffer:
            self._fill()
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        self.status = head.split(b" ")[1].decode()
        if self.status != "101":
            raise Closed(int(self.status))
        self.socket.settimeout(None)
        self.writing = threading.Lock()

    def _fill(self):
        data = self.socket.recv(65536)
        if not data:
            raise Closed(1006)
        self.buffer += data

    def _take(self, count):
        while len(self.buffer) < count:
            self._fill()
        taken, self.buffer = self.buffer[:count], self.buffer[count:]
        return taken

    def send(self, data, opcode=2):
        mask = os.urandom(4)
        size = len(data)
        if size < 126:
            head = struct.pack("!BB", 0x80 | opcode, 0x80 | size)
        elif size < 65536:
            head = struct.pack("!BBH", 0x80 | opcode, 0x80 | 126, size)
        else:
            head = struct.pack("!BBQ", 0x80 | opcode, 0x80 | 127, size)
        keys = (mask * (size // 4 + 1))[:size]
        masked = (int.from_bytes(data, "big") ^ int.from_bytes(keys, "big")).to_bytes(size, "big")
        with self.writing:
            self.socket.sendall(head + mask + masked)

    def receive(self):
        """The next message; pings are answered, a close is answered and raised."""
        message = b""
        while True:
            first, second = self._take(2)
            size = second & 127
            if size == 126:
                size, = struct.unpack("!H", self._take(2))
            elif size == 127:
                size, = struct.unpack("!Q", self._take(8))
            data = self._take(size)
            opcode = first & 15
            if opcode == 9:
                self.send(data, 10)
            elif opcode == 8:
                code = struct.unpack("!H", data[:2])[0] if data else 1005
                try:
                    self.send(data[:2], 8)
                except OSError:
                    pass
                self.socket.close()
                raise Closed(code)
            elif opcode in (0, 1, 2):
                message += data
                if first & 128:
                    return message

    def half_a_frame(self):
        with self.writing:
            self.socket.sendall(struct.pack("!BB", 0x82, 0x80 | 100) + bytes(9))

    def hang_up(self):
        """Also where another thread is reading."""
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()

    def vanish(self):
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()


# ---- Protocol buffers -----------------------------------------------------------------------

def varint(number):
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def number(tag, value):
    return varint(tag << 3) + varint(value)


def block(tag, data):
    data = data.encode() if isinstance(data, str) else data
    return varint(tag << 3 | 2) + varint(len(data)) + data


def fields(data):
    """Every field of a message: tag, and an integer or bytes."""
    position = 0

    def read():
        nonlocal position
        result = shift = 0
        while True:
            byte = data[position]
            position += 1
            result |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return result

    while position < len(data):
        key = read()
        kind = key & 7
        if kind == 0:
            yield key >> 3, read()
        else:
            size = {1: 8, 5: 4}.get(kind) if kind != 2 else read()
            yield key >> 3, data[position:position + size]
            position += size


ERROR, ANNOUNCEMENT, CONFIGURATION, LABEL, RESET, READY = range(1, 7)
STIMULUS, RESPONSE = 0, 1


def message(kind, body=b""):
    return block(kind, body)


TEXT, INTEGER, DECIMAL, BOOLEAN, DATE, ARRAY, STRUCT, HASH, TIME = range(1, 10)


def write_value(kind, value):
    """A value of this kind; nothing at all is void."""
    if kind is None:
        return b""
    if kind == TEXT:
        return block(kind, value)
    if kind == DECIMAL:
        return varint(kind << 3 | 1) + struct.pack("<d", value)
    if kind == ARRAY:
        return block(kind, b"".join(block(1, write_value(*item)) for item in value))
    if kind in (STRUCT, HASH):
        entries = (block(1, write_value(*k)) + block(2, write_value(*v)) for k, v in value)
        return block(kind, b"".join(block(1, entry) for entry in entries))
    return number(kind, value)


def read_value(data):
    """Its kind, and itself in Python's terms."""
    found = list(fields(data))
    if not found:
        return None, None
    kind, value = found[-1]
    if kind == TEXT:
        return kind, value.decode()
    if kind == INTEGER:
        return kind, value - (1 << 64) if value >> 63 else value
    if kind == DECIMAL:
        return kind, struct.unpack("<d", value)[0]
    if kind == BOOLEAN:
        return kind, bool(value)
    if kind == ARRAY:
        return kind, [read_value(item) for _, item in fields(value)]
    if kind in (STRUCT, HASH):
        entries = [dict(fields(entry)) for _, entry in fields(value)]
        return kind, [(read_value(e[1]), read_value(e.get(2, b""))) for e in entries]
    return kind, value


def parameter(name, value):
    return block(1, name) + block(2, value)


def label(direction, name, channel, parameters=(), correlation=0, physical=b"", now=True):
    out = number(1, direction) + block(2, name) + block(3, channel)
    for each in parameters:
        out += block(4, each)
    if now:
        out += number(5, time.time_ns())
    if physical:
        out += block(6, physical)
    if correlation:
        out += number(7, correlation)
    return out


def read_label(data):
    read = {"type": 0, "label": "", "channel": "", "parameters": [], "correlation": 0}
    for tag, value in fields(data):
        if tag == 1:
            read["type"] = value
        elif tag == 2:
            read["label"] = value.decode()
        elif tag == 3:
            read["channel"] = value.decode()
        elif tag == 4:
            read["parameters"].append(value)
        elif tag == 7:
            read["correlation"] = value
    return read


# ---- SmartDoor ------------------------------------------------------------------------------

STIMULI = {"open": [], "close": [], "lock": ["passcode"], "unlock": ["passcode"]}
RESPONSES = ["opened", "closed", "locked", "unlocked", "invalid_command", "invalid_passcode",
             "incorrect_passcode", "shut_off"]


def announcement(name, endpoint, channel):
    item = block(1, "endpoint") + block(2, "where the door listens") + block(3, endpoint)
    out = block(1, name) + block(2, block(1, item))
    for stimulus, parameters in STIMULI.items():
        parameters = [parameter(p, write_value(INTEGER, 0)) for p in parameters]
        out += block(3, label(STIMULUS, stimulus, channel, parameters, now=False))
    for response in RESPONSES:
        out += block(3, label(RESPONSE, response, channel, now=False))
    return message(ANNOUNCEMENT, out)


# ---- Echo -----------------------------------------------------------------------------------

DUMMIES = {"number": (INTEGER, 0), "text": (TEXT, ""), "flag": (BOOLEAN, False),
           "amount": (DECIMAL, 0.0), "day": (DATE, 0), "moment": (TIME, 0),
           "list": (ARRAY, [(INTEGER, 0)]), "point": (STRUCT, []), "colour": (TEXT, "red"),
           "unset": (TEXT, "")}

# A day in the year 2020 in milliseconds, and the same moment in microseconds.
THOUSANDTHS = {"day": (DATE, 1_600_000_000_000), "moment": (TIME, 1_600_000_000_000_000)}


def echo_announcement(options):
    dummies = {**DUMMIES, **(THOUSANDTHS if options.units == "thousandths" else {})}
    parameters = [parameter(p, write_value(*value)) for p, value in dummies.items()]
    out = block(1, options.name) + block(2, b"")
    for direction, name in [(STIMULUS, options.hears), (RESPONSE, options.says)]:
        out += block(3, label(direction, name, options.channel, parameters, now=False))
    return message(ANNOUNCEMENT, out)


def moment(kind, value, units):
    """A date or a time as the moment it means, in seconds."""
    per_second = {DATE: 1, TIME: 1_000_000_000}[kind]
    if units == "thousandths":
        per_second = {DATE: 1_000, TIME: 1_000_000}[kind]
    return value / per_second


class Adapter:
    def __init__(self, options):
        self.options = options
        self.behave = options.behave
        self.door = None
        self.reset_done = threading.Event()
        self.stimuli = 0
        self.resets = 0

    # -- the door's side

    def start_door(self, endpoint):
        self.door = WebSocket(endpoint)
        threading.Thread(target=self.listen_to_door, args=(self.door,), daemon=True).start()
        self.reset_door()

    def reset_door(self):
        self.reset_done.clear()
        self.door.send(b"RESET", 1)
        self.reset_done.wait(5)

    def listen_to_door(self, door):
        try:
            while True:
                text = door.receive().decode()
                if text == "RESET_PERFORMED":
                    self.reset_done.set()
                else:
                    self.respond(text.lower(), text.encode())
        except (Closed, OSError):
            pass

    def respond(self, name, physical=b"", parameters=()):
        if self.behave == "unknown-label" and self.stimuli > 2:
            name = "exploded"
        if self.behave == "wrong-type" and self.stimuli > 2:
            parameters = [parameter("colour", write_value(TEXT, "red"))]
        if self.behave == "plain":
            physical = b""
        channel = "" if self.behave == "no-channel" else self.options.channel
        self.ioco.send(message(LABEL, label(RESPONSE, name, channel, parameters,
                                            physical=physical)))
        if self.behave == "vanish-after-response" and self.stimuli > 2:
            self.ioco.vanish()

    # -- ioco's side

    def run(self):
        while True:
            try:
                self.session()
            except Closed as closed:
                print("closed", closed.code, file=sys.stderr, flush=True)
                if self.door is None or self.behave == "once":
                    return
                self.door.hang_up()
                self.door = None
            except (ConnectionError, OSError) as error:
                print("broken:", error, file=sys.stderr, flush=True)
                return

    def session(self):
        headers = [f"Authorization: Bearer {self.options.token}"] if self.options.token else []
        context = None
        if self.options.certificate:
            context = ssl.create_default_context(cafile=self.options.certificate)
        if self.behave == "vanish-before-handshake":
            host = self.options.url.split("/")[2]
            socket.create_connection(host.split(":")).close()
            return time.sleep(60)
        self.ioco = WebSocket(self.options.url, headers, context)
        behave, send = self.behave, self.ioco.send
        if behave == "vanish-before-announcement":
            self.ioco.vanish()
            raise Closed(1006)
        if behave == "text-frame":
            send(b"hello", 1)
        elif behave == "garbage":
            send(b"\xff\xff\xff\xff\xff")
        elif behave == "ready-first":
            send(message(READY))
        name = f"{self.options.name}"
        announced = announcement(name, self.options.endpoint, self.options.channel)
        if self.options.system == "echo":
            announced = echo_announcement(self.options)
        if behave == "plain":
            announced = message(ANNOUNCEMENT, block(1, name))
        send(announced)
        if behave == "vanish-after-announcement":
            self.ioco.vanish()
            raise Closed(1006)
        while True:
            for kind, body in fields(self.ioco.receive()):
                self.handle(kind, body)

    def handle(self, kind, body):
        behave, send = self.behave, self.ioco.send
        if kind == ERROR:
            print("error:", dict(fields(body)).get(1, b"").decode(), file=sys.stderr, flush=True)
            self.ioco.send(struct.pack("!H", 1000), 8)
        elif kind == CONFIGURATION:
            endpoint = self.options.endpoint
            for _, item in fields(body):
                item = dict(fields(item))
                if item.get(1) == b"endpoint":
                    endpoint = item[3].decode()
            if behave == "vanish-before-ready":
                self.ioco.vanish()
                raise Closed(1006)
            if behave == "error-before-ready":
                send(message(ERROR, block(1, "the door is not there")))
                return
            if self.options.system == "door":
                self.start_door(endpoint)
            send(message(READY))
            if behave == "vanish-after-ready":
                self.ioco.vanish()
                raise Closed(1006)
        elif kind == RESET:
            self.resets += 1
            if behave == "late":
                # A response to a test that is over.
                self.respond("opened", b"OPENED")
            if behave == "vanish-in-reset":
                self.ioco.vanish()
                raise Closed(1006)
            if behave == "hang-in-reset":
                return
            if self.door is not None:
                self.reset_door()
            send(message(READY))
            if behave == "vanish-after-reset":
                self.ioco.vanish()
                raise Closed(1006)
        elif kind == LABEL:
            self.stimulate(read_label(body))

    def stimulate(self, stimulus):
        behave = self.behave
        self.stimuli += 1
        named = [dict(fields(each)) for each in stimulus["parameters"]]
        named = [(each[1].decode(), read_value(each.get(2, b""))) for each in named]
        text = ":".join([stimulus["label"].upper(), *(str(value) for _, (_, value) in named)])
        if self.stimuli > 2:
            if behave == "vanish-before-confirmation":
                self.ioco.vanish()
                raise Closed(1006)
            if behave == "vanish-in-a-frame":
                self.ioco.half_a_frame()
                self.ioco.vanish()
                raise Closed(1006)
            if behave == "close":
                self.ioco.send(struct.pack("!H", 1001) + b"going home", 8)
            if behave == "big":
                self.ioco.send(bytes(17 << 20))
            if behave == "error":
                self.ioco.send(message(ERROR, block(1, "the door is on fire")))
                return
            if behave == "no-confirmation":
                return
        if behave == "inject-first":
            # The newest public Python adapter confirms after the system has got the stimulus: the
            # answer may come first.
            self.door.send(text.encode(), 1)
            time.sleep(0.02)
        correlation = 0 if behave == "plain" else stimulus["correlation"]
        physical = b"" if behave == "plain" else text.encode()
        self.ioco.send(message(LABEL, label(STIMULUS, stimulus["label"], stimulus["channel"],
                                            stimulus["parameters"], correlation, physical)))
        if behave == "vanish-after-confirmation" and self.stimuli > 2:
            self.ioco.vanish()
            raise Closed(1006)
        if self.options.system == "echo":
            self.echo(named)
        elif behave != "inject-first":
            self.door.send(text.encode(), 1)

    def echo(self, named):
        """Says back what it was told, if dates and times mean what they should."""
        said = []
        for name, (kind, value) in named:
            if kind in (DATE, TIME):
                # The model speaks of moments after 2001 and before 2033.
                if not 1e9 <= moment(kind, value, self.options.units) < 2e9:
                    self.ioco.send(message(ERROR, block(1, f"{name} is {value}")))
                    return
            if self.behave == "hash" and kind == STRUCT:
                kind = HASH
            if self.behave == "forget" and kind == ARRAY:
                value = value[1:]
            if self.behave == "off-by-one" and kind == INTEGER:
                value += 1
            said.append(parameter(name, write_value(kind, value)))
        if self.behave == "string-for-integer":
            said[0] = parameter("number", write_value(TEXT, "7"))
        self.respond(self.options.says, parameters=said)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-u", "--url", required=True)
    parser.add_argument("-t", "--token", default="")
    parser.add_argument("-n", "--name", default="Smartdoor@test")
    parser.add_argument("--endpoint", default="ws://localhost:3001")
    parser.add_argument("--channel", default="door")
    parser.add_argument("--behave", default="")
    parser.add_argument("--system", default="door", choices=["door", "echo"])
    parser.add_argument("--hears", default="say")
    parser.add_argument("--says", default="echoed")
    parser.add_argument("--units", default="protocol", choices=["protocol", "thousandths"])
    parser.add_argument("--certificate")
    Adapter(parser.parse_args()).run()


main()
