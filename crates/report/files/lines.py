def said(message):
    return message.get("response"), message.get("values") or {}


def read_message(line):
    try:
        message = exact(line)
    except ValueError:
        message = None
    if not isinstance(message, dict):
        raise Undecided("the system cannot be used: it sent a line that is not a message")
    return message


def still_fails():
    to, source, end = connect()
    lines = queue.Queue()

    def read():
        try:
            for line in source:
                lines.put(line.rstrip("\n"))
        except OSError:
            pass
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()

    def send(text):
        print("→", shown(text))
        try:
            to.write(text + "\n")
            to.flush()
        except OSError:
            # What it said before its end is still to be read.
            pass

    def receive(seconds, wanted="response"):
        end_of_wait = time.monotonic() + seconds
        while True:
            try:
                line = lines.get(timeout=max(0.0, end_of_wait - time.monotonic()))
            except queue.Empty:
                line = ""
            print("←", "the end" if line is None else shown(line) or "silence")
            # The system may also say that it is silent.
            if not line:
                return line
            message = read_message(line)
            if wanted in message:
                return message

    try:
        send('{"reset":true}')
        if not receive(PATIENCE, "ready"):
            raise Undecided("the system cannot be used: it is not ready")
        last = len(MESSAGES) - 1
        for number, (who, text, pause) in enumerate(MESSAGES):
            if who == "tester":
                time.sleep(pause)
                send(text)
                continue
            message = receive(PATIENCE)
            if message is None:
                raise Undecided("the system ended before the place of the failure")
            (label, values), (old_label, old_values) = said(message or {}), said(exact(text))
            is_place = number == last and SILENCE is None
            if label != old_label and not is_place:
                raise Undecided("the system did something else before the place of the failure")
            if label != old_label:
                return False
            if is_place:
                if VALUES and is_other_order(values, old_values):
                    raise Undecided("the same values in another order: `ioco replay` judges them")
                return not VALUES or same(values, old_values)
        # Silence where an answer is due, or the end of the system.
        message = receive(SILENCE or PATIENCE)
        if message is None and SILENCE is not None:
            raise Undecided("the system ended at the place of the failure")
        return message is None or (message == "" and SILENCE is not None)
    finally:
        end()
