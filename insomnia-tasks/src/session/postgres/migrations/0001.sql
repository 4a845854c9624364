-- Who may append to a session, and where. The epoch grows with every opening: an append names it.
create table insomnia_sessions (
    session_id       text collate "C" primary key,
    epoch            bigint not null,
    head_seq         bigint not null,
    owner            text,
    claim            text,
    lease_until      timestamptz,
    parent           text,
    fork_seq         bigint,
    live_compact_seq bigint,
    fmt              integer not null,
    created          timestamptz not null default now(),
    updated          timestamptz not null default now()
) with (fillfactor = 70);

-- One record per row: the lines of a session's `history.json`. The header is number 0.
-- `text`, for `jsonb` reorders keys and refuses what JSON allows.
create table insomnia_items (
    session_id text collate "C" not null,
    seq        bigint not null,
    epoch      bigint not null,
    item_id    text collate "C" not null,
    kind       text not null,
    body       text not null,
    created    timestamptz not null default now(),
    primary key (session_id, seq),
    unique (session_id, item_id)
) partition by hash (session_id);

create table insomnia_items_0  partition of insomnia_items for values with (modulus 16, remainder 0);
create table insomnia_items_1  partition of insomnia_items for values with (modulus 16, remainder 1);
create table insomnia_items_2  partition of insomnia_items for values with (modulus 16, remainder 2);
create table insomnia_items_3  partition of insomnia_items for values with (modulus 16, remainder 3);
create table insomnia_items_4  partition of insomnia_items for values with (modulus 16, remainder 4);
create table insomnia_items_5  partition of insomnia_items for values with (modulus 16, remainder 5);
create table insomnia_items_6  partition of insomnia_items for values with (modulus 16, remainder 6);
create table insomnia_items_7  partition of insomnia_items for values with (modulus 16, remainder 7);
create table insomnia_items_8  partition of insomnia_items for values with (modulus 16, remainder 8);
create table insomnia_items_9  partition of insomnia_items for values with (modulus 16, remainder 9);
create table insomnia_items_10 partition of insomnia_items for values with (modulus 16, remainder 10);
create table insomnia_items_11 partition of insomnia_items for values with (modulus 16, remainder 11);
create table insomnia_items_12 partition of insomnia_items for values with (modulus 16, remainder 12);
create table insomnia_items_13 partition of insomnia_items for values with (modulus 16, remainder 13);
create table insomnia_items_14 partition of insomnia_items for values with (modulus 16, remainder 14);
create table insomnia_items_15 partition of insomnia_items for values with (modulus 16, remainder 15);

-- Messages of other processes. One leaves in the statement that appends the item with its id.
create table insomnia_inbox (
    number     bigint generated always as identity primary key,
    session_id text collate "C" not null,
    item_id    text collate "C" not null,
    body       text not null,
    created    timestamptz not null default now(),
    unique (session_id, item_id)
);
