def connect():
    try:
        system = subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    except OSError as broken:
        raise Undecided(f"the system cannot be used: {broken}") from None
    return system.stdin, system.stdout, system.kill


