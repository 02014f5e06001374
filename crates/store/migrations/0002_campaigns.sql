-- Campaigns on many machines. The coordinator writes an order here before it hands it out, and an outcome before it
-- acknowledges it, so that another coordinator can go on from here alone.

CREATE TABLE campaigns (
    id TEXT NOT NULL PRIMARY KEY,
    run BIGINT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    -- JSON: what was asked for.
    plan TEXT NOT NULL,
    -- How many coordinators it has had. Only the last one may write.
    coordinator BIGINT NOT NULL,
    -- What the clock of its run showed last, in nanoseconds: a coordinator that goes on has the rest of the time.
    clock BIGINT NOT NULL,
    -- Outcomes that came twice, or after their order was withdrawn.
    discarded BIGINT NOT NULL
);

CREATE INDEX campaigns_by_run ON campaigns (run);

CREATE TABLE orders (
    campaign TEXT NOT NULL REFERENCES campaigns (id) ON DELETE CASCADE,
    number BIGINT NOT NULL,
    -- JSON: what the coordinator wants it for.
    purpose TEXT NOT NULL,
    -- JSON: the order as workers get it.
    body TEXT NOT NULL,
    PRIMARY KEY (campaign, number)
);

-- The key allows one outcome for every order.
CREATE TABLE outcomes (
    campaign TEXT NOT NULL,
    number BIGINT NOT NULL,
    -- 1 for the first outcome of the campaign.
    arrived BIGINT NOT NULL,
    worker TEXT NOT NULL,
    -- JSON; NULL where the coordinator withdrew the order. The steps of a test are in the table of steps.
    body TEXT,
    PRIMARY KEY (campaign, number),
    FOREIGN KEY (campaign, number) REFERENCES orders (campaign, number) ON DELETE CASCADE
);

CREATE UNIQUE INDEX outcomes_by_arrival ON outcomes (campaign, arrived);
