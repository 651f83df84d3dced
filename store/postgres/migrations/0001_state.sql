-- The state of package store. Every table begins with the tenant, which row level security reads from the session.
-- Names are ordered and compared by their bytes, as the file of the embedded store does.

CREATE TABLE head (
    tenant      text COLLATE "C" NOT NULL DEFAULT current_setting('tooldex.tenant') PRIMARY KEY,
    seq         bigint NOT NULL,           -- the number of the last change of anything
    generation  bigint NOT NULL,           -- of the last change of the catalogue
    stamp       bytea  NOT NULL,           -- random, of the state with that generation
    preferences bigint NOT NULL DEFAULT 0, -- of their last change, as the next two
    learned     bigint NOT NULL DEFAULT 0,
    counts      bigint NOT NULL DEFAULT 0
);

CREATE TABLE event (
    tenant text COLLATE "C" NOT NULL DEFAULT current_setting('tooldex.tenant'),
    seq    bigint NOT NULL,
    kind   text NOT NULL, -- the column of head that the change raised
    at     timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant, seq)
);

CREATE TABLE tool (
    tenant text COLLATE "C" NOT NULL DEFAULT current_setting('tooldex.tenant'),
    id     text COLLATE "C" NOT NULL,
    body   bytea NOT NULL, -- the record as store.EncodeRecord writes it, with the JSON of the tool byte for byte
    PRIMARY KEY (tenant, id)
);

CREATE TABLE vector (
    tenant      text COLLATE "C" NOT NULL DEFAULT current_setting('tooldex.tenant'),
    model       text COLLATE "C" NOT NULL,
    fingerprint text COLLATE "C" NOT NULL,
    dims        integer NOT NULL,
    text        bytea NOT NULL, -- the hash of the text
    data        bytea NOT NULL, -- as store.EncodeVector writes it
    PRIMARY KEY (tenant, model, fingerprint, dims, text)
);

CREATE TABLE analysis (
    tenant    text COLLATE "C" NOT NULL DEFAULT current_setting('tooldex.tenant'),
    knowledge text COLLATE "C" NOT NULL, -- the version of the knowledge
    tool      bytea NOT NULL,            -- the hash of the tool's content
    data      bytea NOT NULL,
    PRIMARY KEY (tenant, knowledge, tool)
);

CREATE TABLE server (
    tenant text COLLATE "C" NOT NULL DEFAULT current_setting('tooldex.tenant'),
    name   text COLLATE "C" NOT NULL,
    body   bytea NOT NULL, -- JSON; secrets stand in it as ${VAR}
    PRIMARY KEY (tenant, name)
);

CREATE TABLE source (
    tenant text COLLATE "C" NOT NULL DEFAULT current_setting('tooldex.tenant'),
    name   text COLLATE "C" NOT NULL,
    body   bytea NOT NULL, -- JSON
    PRIMARY KEY (tenant, name)
);

CREATE TABLE overlay (
    tenant text COLLATE "C" NOT NULL DEFAULT current_setting('tooldex.tenant'),
    name   text COLLATE "C" NOT NULL,
    body   bytea NOT NULL,
    PRIMARY KEY (tenant, name)
);

CREATE TABLE trust (
    tenant text COLLATE "C" NOT NULL DEFAULT current_setting('tooldex.tenant'),
    name   text COLLATE "C" NOT NULL, -- the ID of the tool that is decided on
    body   bytea NOT NULL,
    PRIMARY KEY (tenant, name)
);

CREATE TABLE preference (
    tenant  text COLLATE "C" NOT NULL DEFAULT current_setting('tooldex.tenant'),
    profile text COLLATE "C" NOT NULL,
    version bigint NOT NULL, -- the seq of the change that stored it
    value   bytea NOT NULL,
    PRIMARY KEY (tenant, profile)
);

CREATE TABLE entry (
    tenant text COLLATE "C" NOT NULL DEFAULT current_setting('tooldex.tenant'),
    kind   text COLLATE "C" NOT NULL, -- learned or counts
    key    bytea NOT NULL,
    value  bytea NOT NULL,
    PRIMARY KEY (tenant, kind, key)
);

-- FORCE applies it to the owner of the tables too. A session without a tenant sees nothing.
DO $$
DECLARE t text;
BEGIN
    FOREACH t IN ARRAY ARRAY['head', 'event', 'tool', 'vector', 'analysis', 'server', 'source', 'overlay', 'trust',
        'preference', 'entry'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
        EXECUTE format('CREATE POLICY tenant ON %I USING (tenant = current_setting(''tooldex.tenant'', true))', t);
    END LOOP;
END $$;
