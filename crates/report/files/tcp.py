def connect():
    try:
        system = socket.create_connection(ADDRESS, PATIENCE)
    except OSError as broken:
        raise Undecided(f"the system cannot be used: {broken}") from None
    system.settimeout(None)
    return system.makefile("w"), system.makefile("r"), lambda: system.shutdown(socket.SHUT_RDWR)


