-- no-transaction
--
-- Prices, and the roll-up of what was used.
--
-- A price book holds dated prices; a plan names the book it is billed by. Both, and the plan of each tenant, keep what they were before, so
-- that an attempt has the price of the instant at which it was placed, whenever it is counted.
--
-- An attempt is counted by the transaction that wrote it, as events are read (0053): transactions commit in another order than they begin
-- in, so the roll-up ends before the oldest that is open. Attempts of before this migration have no transaction.
--
-- Each table is locked for a moment only, alone, and not waited for for long. Whatever ends this in the middle, the next run does all of it
-- again.

do $$
declare
    additions constant text[] := array[
        array['plan', $c$add column if not exists billing jsonb check (jsonb_typeof(billing) = 'object'),
            add column if not exists price_book text collate "C" generated always as (billing ->> 'price_book') stored$c$],
        array['plan', 'drop constraint if exists plan_price_book_fkey'],
        array['plan', 'add constraint plan_price_book_fkey foreign key (price_book) references public.price_book (name)'],
        array['attempt', 'add column if not exists txid bigint, add column if not exists tolerance_ms bigint,
            add column if not exists flexible boolean'],
        array['attempt', 'alter column txid set default (pg_current_xact_id()::text::bigint)']
    ];
    statements constant text[] := array[
        -- Whoever changes a plan, or a tenant's, has it kept.
        $s$create or replace function public.berth_plan_billing_kept() returns trigger
            language plpgsql security definer set search_path = pg_catalog, public, pg_temp
        as $f$
        begin
            insert into plan_billing (plan, since, billing) values (new.name, clock_timestamp(), new.billing);
            return null;
        end
        $f$ $s$,
        $s$create or replace function public.berth_tenant_plan_kept() returns trigger
            language plpgsql security definer set search_path = pg_catalog, public, pg_temp
        as $f$
        begin
            insert into tenant_plan (tenant_id, since, plan) values (new.id, clock_timestamp(), new.plan);
            return null;
        end
        $f$ $s$,
        'revoke execute on function public.berth_plan_billing_kept(), public.berth_tenant_plan_kept() from public',
        'create or replace trigger berth_billing_made after insert on public.plan
            for each row execute function public.berth_plan_billing_kept()',
        'create or replace trigger berth_billing_changed after update on public.plan
            for each row when (old.billing is distinct from new.billing) execute function public.berth_plan_billing_kept()',
        'create or replace trigger berth_plan_given after insert on public.tenant
            for each row execute function public.berth_tenant_plan_kept()',
        'create or replace trigger berth_plan_changed after update on public.tenant
            for each row when (old.plan is distinct from new.plan) execute function public.berth_tenant_plan_kept()',
        -- Whatever was used before has the plan of now, and no price.
        $s$insert into public.plan_billing (plan, since) select p.name, 'epoch' from public.plan p
            where not exists (select from public.plan_billing k where k.plan = p.name)$s$,
        $s$insert into public.tenant_plan (tenant_id, since, plan) select t.id, 'epoch', t.plan from public.tenant t
            where not exists (select from public.tenant_plan k where k.tenant_id = t.id)$s$
    ];
    part text[];
    t text;
    statement text;
    child regclass;
    made text;
begin
    perform set_config('client_min_messages', 'warning', true);
    create table if not exists public.price_book (
        name text collate "C" primary key check (name ~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'),
        version bigint not null default 1 check (version >= 1),
        -- `domain::price::PriceBook`. Those of its prices that are in effect never change.
        document jsonb not null check (jsonb_typeof(document) = 'object'),
        created_at timestamptz not null default now(),
        updated_at timestamptz not null default now()
    );
    -- By what a plan was billed from an instant on; of a plan without prices null.
    create table if not exists public.plan_billing (
        plan text collate "C" not null,
        since timestamptz not null,
        billing jsonb,
        price_book text collate "C" generated always as (billing ->> 'price_book') stored references public.price_book (name),
        primary key (plan, since)
    );
    create index if not exists plan_billing_by_price_book on public.plan_billing (price_book) where price_book is not null;
    -- Which plan a tenant was on from an instant on.
    create table if not exists public.tenant_plan (
        tenant_id uuid not null references public.tenant (id),
        since timestamptz not null,
        plan text collate "C" not null,
        primary key (tenant_id, since)
    );
    -- What ended in a quarter of an hour: time zones begin their days at quarters. It stays when the attempts have gone.
    create table if not exists public.usage_rollup (
        tenant_id uuid not null,
        -- By what it is added up: of one kind, each attempt is in one row of each key.
        kind text collate "C" not null check (kind in ('tier', 'schedule', 'workflow', 'label')),
        starts_at timestamptz not null,
        -- Of a label; else empty.
        key text collate "C" not null,
        -- Empty where an attempt has none, and for the values of a label beyond those that are kept apart (`others`).
        value text collate "C" not null,
        others boolean not null default false,
        -- By whose prices; empty where none held.
        price_book text collate "C" not null,
        attempts bigint not null,
        charged_attempts bigint not null,
        -- First attempts.
        tasks bigint not null,
        run_ms bigint not null,
        cpu_millis_ms bigint not null,
        memory_mib_ms bigint not null,
        disk_mib_ms bigint not null,
        iops_ms bigint not null,
        port_ms bigint not null,
        -- Micro-units of the book's currency: of attempts, and of tasks with their first attempts.
        attempts_cost bigint not null,
        tasks_cost bigint not null,
        primary key (tenant_id, kind, starts_at, key, value, others, price_book)
    ) with (fillfactor = 70);
    foreach t in array array['price_book', 'plan_billing', 'tenant_plan', 'usage_rollup'] loop
        execute format('alter table public.%I enable row level security', t);
        execute format('alter table public.%I force row level security', t);
        execute format('drop policy if exists maintain on public.%I', t);
        execute format('create policy maintain on public.%I to %I using (true) with check (true)', t, current_user);
        execute format('drop policy if exists count on public.%I', t);
        execute format('create policy count on public.%I to berth_scheduler using (true) with check (true)', t);
        execute format('drop policy if exists administer on public.%I', t);
        execute format('create policy administer on public.%I to berth_admin using (true) with check (true)', t);
        execute format('grant select on public.%I to berth_api, berth_scheduler, berth_admin', t);
    end loop;
    -- What a plan costs is no secret: it is what customers choose by.
    foreach t in array array['price_book', 'plan_billing'] loop
        execute format('drop policy if exists read on public.%I', t);
        execute format('create policy read on public.%I for select to berth_api using (true)', t);
    end loop;
    foreach t in array array['tenant_plan', 'usage_rollup'] loop
        execute format('drop policy if exists own on public.%I', t);
        execute format('create policy own on public.%I for select to berth_api
            using (coalesce(tenant_id = public.berth_current_tenant(), false))', t);
    end loop;
    grant insert, update, delete on public.price_book to berth_admin;
    grant insert, update, delete on public.usage_rollup to berth_scheduler;
    drop policy if exists read on public.event_cursor;
    create policy read on public.event_cursor for select to berth_api using (true);
    grant select on public.event_cursor to berth_api;
    commit;

    -- As in 0048; what is no limit stays out of them.
    create or replace function public.berth_plan_limits() returns trigger
        language plpgsql set search_path = pg_catalog, public, pg_temp
    as $f$
    declare
        others constant text[] := array['name', 'version', 'limits', 'billing', 'price_book', 'created_at', 'updated_at'];
    begin
        if new.limits is not null and (tg_op = 'INSERT' or new.limits is distinct from old.limits) then
            new := jsonb_populate_record(new, new.limits - others);
        end if;
        new.limits := coalesce(new.limits, '{}') || (to_jsonb(new) - others);
        if tg_op = 'UPDATE' and old.limits is not null and new.version = old.version and new.limits is distinct from old.limits then
            new.version := old.version + 1;
        end if;
        return new;
    end
    $f$;
    commit;

    foreach part slice 1 in array additions loop
        for tried in 1..120 loop
            begin
                perform set_config('lock_timeout', '500ms', true);
                perform set_config('client_min_messages', 'warning', true);
                execute format('alter table public.%I %s', part[1], part[2]);
                exit;
            exception when lock_not_available or deadlock_detected then
                if tried = 120 then
                    raise;
                end if;
                perform pg_sleep(0.5);
            end;
        end loop;
        commit;
    end loop;

    foreach statement in array statements loop
        for tried in 1..120 loop
            begin
                perform set_config('lock_timeout', '500ms', true);
                perform set_config('client_min_messages', 'warning', true);
                execute statement;
                exit;
            exception when lock_not_available or deadlock_detected then
                if tried = 120 then
                    raise;
                end if;
                perform pg_sleep(0.5);
            end;
        end loop;
        commit;
    end loop;

    -- Attempts are found by their transactions. One partition at a time: the writers of the day wait while it is read, which takes a
    -- second for some million attempts.
    perform set_config('client_min_messages', 'warning', true);
    create index if not exists attempt_by_txid on only public.attempt using brin (txid) with (pages_per_range = 16, autosummarize = on);
    commit;
    for child in select i.inhrelid::regclass from pg_inherits i where i.inhparent = 'public.attempt'::regclass order by 1 desc loop
        if exists (select from pg_inherits i join pg_index x on x.indexrelid = i.inhrelid
            where i.inhparent = 'public.attempt_by_txid'::regclass and x.indrelid = child) then
            continue;
        end if;
        select format('%s_txid_idx', c.relname) into made from pg_class c where c.oid = child;
        execute format('create index if not exists %I on %s using brin (txid) with (pages_per_range = 16, autosummarize = on)', made, child);
        execute format('alter index public.attempt_by_txid attach partition public.%I', made);
        commit;
    end loop;
    -- Last, so that nothing is counted before all of the above is there.
    insert into public.event_cursor (consumer) values ('usage'), ('usage_seen') on conflict do nothing;
end
$$;
