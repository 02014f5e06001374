def connect():
    system = subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    return system.stdin, system.stdout, system.kill


