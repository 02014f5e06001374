-- One text for both databases: only what SQLite and PostgreSQL have in common.
-- Unsigned numbers (seeds) are kept as the signed number with the same bits.

CREATE TABLE models (
    hash TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    path TEXT NOT NULL,
    -- JSON: [{"file": ..., "text": ...}]
    sources TEXT NOT NULL
);

-- Numbers of runs are given once, also when runs are forgotten.
CREATE TABLE numbers (
    last BIGINT NOT NULL
);

INSERT INTO numbers (last) VALUES (0);

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

CREATE INDEX runs_by_model ON runs (model, id);

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

-- The labels of a run, numbered as they were first seen: ?open, !opened.
CREATE TABLE labels (
    run BIGINT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    number BIGINT NOT NULL,
    label TEXT NOT NULL,
    PRIMARY KEY (run, number)
);

-- Steps are read and written by the hundred, so a row holds many of them.
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

CREATE TABLE growth (
    run BIGINT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    test BIGINT NOT NULL,
    locations BIGINT NOT NULL,
    switches BIGINT NOT NULL,
    boundaries BIGINT NOT NULL,
    PRIMARY KEY (run, test)
);

CREATE TABLE coverage (
    run BIGINT NOT NULL PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    -- JSON, only what is covered: [{"process", "name"}], [{"place", "switch", "count"}].
    locations TEXT NOT NULL,
    switches TEXT NOT NULL
);

-- A group of failures that are alike, numbered by the run that found it.
CREATE TABLE found (
    run BIGINT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    failure BIGINT NOT NULL,
    test BIGINT NOT NULL,
    deviation TEXT NOT NULL,
    PRIMARY KEY (run, failure)
);

CREATE TABLE failures (
    fingerprint TEXT NOT NULL PRIMARY KEY,
    model TEXT NOT NULL,
    code TEXT NOT NULL,
    title TEXT NOT NULL,
    -- JSON: the failure file.
    file TEXT NOT NULL
);

CREATE TABLE sightings (
    run BIGINT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    fingerprint TEXT NOT NULL REFERENCES failures (fingerprint) ON DELETE CASCADE,
    test BIGINT NOT NULL,
    -- Seen once, and not again: 1.
    flaky BIGINT NOT NULL,
    PRIMARY KEY (run, fingerprint)
);

CREATE INDEX sightings_by_fingerprint ON sightings (fingerprint, run);
