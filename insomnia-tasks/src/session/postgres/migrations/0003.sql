-- Equality at a price that nobody pays: with it in a condition, the plan that looks at the fewest rows is the cheapest, in small
-- tables too, and it stays right when they have grown. The setting that forbids other plans costs more at each call than the rest
-- of the condition.
create function insomnia_same(one bigint, other bigint) returns boolean
language plpgsql immutable strict cost 1000000 as $$
begin
    return one = other;
end $$;

-- As `insomnia_append`, for what most appends are: one entry, which is no compaction or rewind and takes no message in. The
-- arrays of the other cost a quarter of what an append costs beyond its commit.
create function insomnia_append_one(
    for_session text,
    at_epoch    bigint,
    at_head     bigint,
    next_seq    bigint,
    lease_ms    bigint,
    item_id     text,
    kind        text,
    body        text
) returns boolean language plpgsql
as $$
begin
    update insomnia_sessions
    set head_seq = next_seq, lease_until = now() + lease_ms * interval '1 millisecond', updated = now()
    where session_id = for_session and epoch = at_epoch and insomnia_same(head_seq, at_head);
    if not found then
        return false;
    end if;
    insert into insomnia_items (session_id, seq, epoch, item_id, kind, body)
    values (for_session, next_seq, at_epoch, item_id, kind, body);
    return true;
end $$;
