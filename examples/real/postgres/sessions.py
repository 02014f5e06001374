# Two sessions of a PostgreSQL server, as an adapter: labels a_* and b_*. A statement that waits for a lock is
# answered when the lock is free. The server is the one of PGHOST, PGPORT and PGUSER; every adapter makes a database of
# its own, so that several can test side by side. The next statement goes out when the last one has its answer or
# waits for a lock: otherwise two sessions could overtake each other.
import json, os, queue, sys, threading
import psycopg

LEVELS = {"Committed": "READ COMMITTED", "Repeatable": "REPEATABLE READ", "Serializable": "SERIALIZABLE"}
FAILURES = {"40001": "serialization", "40P01": "deadlock", "25P02": "aborted"}
output = threading.Lock()


def say(message):
    with output:
        print(json.dumps(message), flush=True)


def session(name, work):
    connection = psycopg.connect(autocommit=True)
    while True:
        backends[name] = connection.info.backend_pid
        kind, values, done = work.get()
        try:
            if kind == "reset":
                connection.close()
                connection = psycopg.connect(autocommit=True)
                done.set()
                continue
            if kind == "begin":
                connection.execute("BEGIN ISOLATION LEVEL " + LEVELS[values["level"]])
                answer = "done", {}
            elif kind == "read":
                row = connection.execute("SELECT value FROM item WHERE key = %s", [values["key"]]).fetchone()
                answer = "value", {"value": row[0]}
            elif kind == "write":
                connection.execute("UPDATE item SET value = %s WHERE key = %s", [values["value"], values["key"]])
                answer = "done", {}
            else:
                status = connection.execute(kind.upper()).statusmessage
                answer = ("done", {}) if status == kind.upper() else ("rolled_back", {})
        except psycopg.Error as error:
            answer = FAILURES.get(error.sqlstate, f"error_{error.sqlstate}"), {}
        say({"response": f"{name}_{answer[0]}", "values": answer[1]})
        done.set()


def waits(name):
    query = "SELECT wait_event_type = 'Lock' FROM pg_stat_activity WHERE pid = %s"
    return admin.execute(query, [backends[name]]).fetchone() == (True,)


with psycopg.connect(autocommit=True) as server:
    database = f"ioco_{os.getpid()}"
    server.execute(f"DROP DATABASE IF EXISTS {database}")
    server.execute(f"CREATE DATABASE {database}")
os.environ["PGDATABASE"] = database
queues, backends = {}, {}
for name in "ab":
    queues[name] = queue.Queue()
    threading.Thread(target=session, args=(name, queues[name]), daemon=True).start()
admin = psycopg.connect(autocommit=True)
for line in sys.stdin:
    message = json.loads(line)
    if "reset" in message:
        # Whoever waits for a lock gets an error, which comes before `ready` and is not judged.
        admin.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
                      "AND datname = current_database()")
        for work in queues.values():
            done = threading.Event()
            work.put(("reset", {}, done))
            done.wait()
        admin.execute("DROP TABLE IF EXISTS item; CREATE TABLE item (key int PRIMARY KEY, value int); "
                      "INSERT INTO item VALUES (0, 0), (1, 0)")
        say({"ready": True})
    else:
        name, kind = message["stimulus"].split("_", 1)
        done = threading.Event()
        queues[name].put((kind, message["values"], done))
        while not done.wait(0.002) and not waits(name):
            pass
