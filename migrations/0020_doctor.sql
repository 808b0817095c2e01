-- What `berth doctor` must see beyond its tables, and what makes a row one that no service can work with.

-- Transactions of this database that are open, of every login. It runs as the owner: whoever may not see another's gets no times.
create function berth_transactions() returns table (pid integer, login text, state text, began_at timestamptz, changed_at timestamptz)
    language sql stable security definer set search_path = pg_catalog, public, pg_temp
    as $$
        select a.pid, a.usename::text, a.state, a.xact_start, a.state_change from pg_stat_activity a
        where a.datname = current_database() and a.pid <> pg_backend_pid() and a.backend_type = 'client backend'
    $$;
revoke execute on function berth_transactions() from public;
grant execute on function berth_transactions() to berth_scheduler;

-- True for a live task that every statement can work with. The table's checks keep others out; this is for rows that came in past
-- them. No time beyond the year 20000: what reads it would not survive that. No number so large that another step overflows.
create function berth_task_is_sound(t task) returns boolean
    language sql immutable parallel safe
    return coalesce(
        t.pool <> '' and t.cpu_millis >= 0 and t.memory_mib >= 0 and t.disk_mib >= 0 and t.iops >= 0 and t.ports >= 0
        and t.slots between 1 and 100000000
        and t.run_at >= timestamptz '1970-01-01 00:00:00+00' and t.run_at < timestamptz '20000-01-01 00:00:00+00'
        and t.start_deadline >= timestamptz '1970-01-01 00:00:00+00' and t.start_deadline < timestamptz '20000-01-01 00:00:00+00'
        and t.cap_ms between 1 and 3153600000000
        and t.attempt between 0 and 1000000000 and t.failures between 0 and t.attempt and t.max_attempts between 1 and 1000000000
        and t.dispatch_epoch between 0 and 2000000000
        and t.expire_if_late is not null and t.at_most_once is not null and t.prepaid is not null and t.flexible is not null
        and t.strand is not null and t.name_key is not null and t.priority between -10 and 10
        and (t.concurrency_key is null or length(t.concurrency_key) between 1 and 200)
        and (t.first_started_at is null or t.first_started_at >= timestamptz '1970-01-01 00:00:00+00'
            and t.first_started_at < timestamptz '20000-01-01 00:00:00+00'),
        false);

-- The same for a schedule, but for what its JSON says.
create function berth_schedule_is_sound(s schedule) returns boolean
    language sql immutable parallel safe
    return coalesce(
        s.name <> '' and s.version between 1 and 1000000000000 and s.timing <> '' and s.template <> '' and s.misfire <> ''
        and s.overlap in ('skip', 'buffer_one', 'buffer_all', 'cancel_other', 'allow')
        and s.created_by is not null and s.tzdb is not null and s.fires between 0 and 1000000000000 and s.recent is not null
        and s.shard is not null and (s.due_at is null) = (s.fire_at is null)
        and s.created_at >= timestamptz '1970-01-01 00:00:00+00' and s.created_at < timestamptz '20000-01-01 00:00:00+00'
        and s.updated_at >= timestamptz '1970-01-01 00:00:00+00' and s.updated_at < timestamptz '20000-01-01 00:00:00+00'
        and (s.due_at is null or s.due_at >= timestamptz '1970-01-01 00:00:00+00' and s.due_at < timestamptz '20000-01-01 00:00:00+00')
        and (s.fire_at is null or s.fire_at >= timestamptz '1970-01-01 00:00:00+00' and s.fire_at < timestamptz '20000-01-01 00:00:00+00'),
        false);

