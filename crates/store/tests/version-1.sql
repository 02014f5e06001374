-- A store as ioco with migration 1 wrote it, with one run. Never changed: it stands for stores that exist.
PRAGMA foreign_keys = OFF;
BEGIN TRANSACTION;
CREATE TABLE _sqlx_migrations (
    version BIGINT PRIMARY KEY,
    description TEXT NOT NULL,
    installed_on TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    success BOOLEAN NOT NULL,
    checksum BLOB NOT NULL,
    execution_time BIGINT NOT NULL
);
INSERT INTO "_sqlx_migrations" VALUES(1,'runs','2026-11-16 20:31:55',1,X'1E5F2298F698AA1B76FD3A1CC1D5E464E4612C9C0A140EEDEFF77A05CD9C26E64495F6D4711247510F6F02D4F9A312B1',1785944);
CREATE TABLE coverage (
    run BIGINT NOT NULL PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    -- JSON, only what is covered: [{"process", "name"}], [{"place", "switch", "count"}].
    locations TEXT NOT NULL,
    switches TEXT NOT NULL
);
INSERT INTO "coverage" VALUES(1,'[{"process":"ping","name":"idle"},{"process":"ping","name":"_1"}]','[{"place":"ping.aml:10","switch":"idle ──?ping──► _1","count":2},{"place":"ping.aml:10","switch":"_1 ──!pong──► idle","count":2}]');
CREATE TABLE failures (
    fingerprint TEXT NOT NULL PRIMARY KEY,
    model TEXT NOT NULL,
    code TEXT NOT NULL,
    title TEXT NOT NULL,
    -- JSON: the failure file.
    file TEXT NOT NULL
);
CREATE TABLE found (
    run BIGINT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    failure BIGINT NOT NULL,
    test BIGINT NOT NULL,
    deviation TEXT NOT NULL,
    PRIMARY KEY (run, failure)
);
CREATE TABLE growth (
    run BIGINT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    test BIGINT NOT NULL,
    locations BIGINT NOT NULL,
    switches BIGINT NOT NULL,
    boundaries BIGINT NOT NULL,
    PRIMARY KEY (run, test)
);
INSERT INTO "growth" VALUES(1,1,2,2,0);
CREATE TABLE labels (
    run BIGINT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    number BIGINT NOT NULL,
    label TEXT NOT NULL,
    PRIMARY KEY (run, number)
);
INSERT INTO "labels" VALUES(1,0,'?ping');
INSERT INTO "labels" VALUES(1,1,'!pong');
CREATE TABLE models (
    hash TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    path TEXT NOT NULL,
    -- JSON: [{"file": ..., "text": ...}]
    sources TEXT NOT NULL
);
INSERT INTO "models" VALUES('1db8ef162f367046','ping','ping.aml','[{"file":"ping.aml","text":"\nexternal ''wire''\nprocess(''ping'') {\n  channel(''wire'') {\n    stimulus ''ping''\n    response ''pong''\n  }\n  state ''idle''\n  repeat {\n    o { receive ''ping''; send ''pong'' }\n  }\n}\n"}]');
CREATE TABLE numbers (
    last BIGINT NOT NULL
);
INSERT INTO "numbers" VALUES(1);
CREATE TABLE runs (
    id BIGINT NOT NULL PRIMARY KEY,
    -- Milliseconds since 1970.
    started BIGINT NOT NULL,
    model TEXT NOT NULL,
    model_hash TEXT NOT NULL,
    -- JSON: how the model was read.
    options TEXT NOT NULL,
    connection TEXT NOT NULL,
    -- Of the events.
    version BIGINT NOT NULL,
    seed BIGINT NOT NULL,
    strategy TEXT NOT NULL,
    locations BIGINT NOT NULL,
    switches BIGINT NOT NULL,
    -- Nanoseconds on the connection's clock; NULL until the first test began.
    began BIGINT,
    -- JSON; NULL while the run goes on, or where it was killed.
    summary TEXT
);
INSERT INTO "runs" VALUES(1,1794861115269,'ping','1db8ef162f367046','{"reduce":false,"flatten":false,"states":200000,"uioco":false}','typed:bc674bce9d085775',2,1,'random',2,2,147889504,'{"seed":1,"tests":1,"passed":1,"failed":0,"inconclusive":0,"errors":0,"distinct_failures":0,"stimuli":2,"responses":2,"silences":0,"duration":3224354,"locations":2,"covered_locations":2,"switches":2,"covered_switches":2,"boundaries":0,"covered_boundaries":0,"stopped":"tests"}');
CREATE TABLE sightings (
    run BIGINT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    fingerprint TEXT NOT NULL REFERENCES failures (fingerprint) ON DELETE CASCADE,
    test BIGINT NOT NULL,
    -- Seen once, and not again: 1.
    flaky BIGINT NOT NULL,
    PRIMARY KEY (run, fingerprint)
);
CREATE TABLE steps (
    run BIGINT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    test BIGINT NOT NULL,
    -- The number of the first step in the row.
    first BIGINT NOT NULL,
    -- JSON: for each step the time since the one before it, the number of its label (-1 is
    -- silence), and an object of values where it has some.
    body TEXT NOT NULL,
    PRIMARY KEY (run, test, first)
);
INSERT INTO "steps" VALUES(1,1,1,'[150993590,0,54070,1,51296,0,14902,1]');
CREATE TABLE tests (
    run BIGINT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    number BIGINT NOT NULL,
    seed BIGINT NOT NULL,
    -- What it is for, where that is known.
    name TEXT,
    began BIGINT NOT NULL,
    -- NULL until it has finished.
    verdict TEXT,
    -- JSON: the verdict with its deviation or reason.
    detail TEXT,
    steps BIGINT NOT NULL,
    duration BIGINT NOT NULL,
    ended BIGINT NOT NULL,
    PRIMARY KEY (run, number)
);
INSERT INTO "tests" VALUES(1,1,-7995527694508729151,NULL,147889504,'pass',NULL,4,282057,151113858);
CREATE INDEX runs_by_model ON runs (model, id);
CREATE INDEX sightings_by_fingerprint ON sightings (fingerprint, run);
COMMIT;
