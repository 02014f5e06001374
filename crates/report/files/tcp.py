def connect():
    system = socket.create_connection(ADDRESS, PATIENCE)
    system.settimeout(None)
    return system.makefile("w"), system.makefile("r"), lambda: system.shutdown(socket.SHUT_RDWR)


