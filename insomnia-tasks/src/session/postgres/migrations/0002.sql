-- The append of one owner: one call, one round trip, one commit. The session's row is changed if it is as expected, and only
-- then the rest follows. A function, for the server keeps the plans of its statements: making them anew costs more than
-- carrying them out, and a statement prepared by name does not survive a pooler in transaction mode.
create function insomnia_append(
    for_session text,
    at_epoch    bigint,
    at_head     bigint,
    last_seq    bigint,
    lease_ms    bigint,
    seqs        bigint[],
    item_ids    text[],
    kinds       text[],
    bodies      text[],
    compacted   bigint,
    rewound_to  bigint,
    taken       text[]
) returns boolean language plpgsql
-- a plan that was made when the tables were small is kept when they have grown
set enable_seqscan = off
as $$
begin
    update insomnia_sessions
    set head_seq = last_seq, lease_until = now() + lease_ms * interval '1 millisecond', updated = now(), live_compact_seq =
        coalesce(compacted, case when live_compact_seq > rewound_to then null else live_compact_seq end)
    where session_id = for_session and epoch = at_epoch and head_seq = at_head;
    if not found then
        return false;
    end if;
    -- most batches are of one, and four functions that yield rows cost a quarter of the whole
    if cardinality(seqs) = 1 then
        insert into insomnia_items (session_id, seq, epoch, item_id, kind, body)
        values (for_session, seqs[1], at_epoch, item_ids[1], kinds[1], bodies[1]);
    else
        insert into insomnia_items (session_id, seq, epoch, item_id, kind, body)
        select for_session, new.seq, at_epoch, new.item_id, new.kind, new.body
        from unnest(seqs, item_ids, kinds, bodies) as new (seq, item_id, kind, body);
    end if;
    -- the messages of the inbox that the entries hold leave it with them
    if cardinality(taken) > 0 then
        delete from insomnia_inbox where session_id = for_session and item_id = any(taken);
    end if;
    return true;
end $$;
