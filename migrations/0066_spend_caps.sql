-- no-transaction
--
-- Spend caps: what a tenant, its tasks with a label, or those of a schedule may cost in a day or a month.
--
-- A task that is accepted under caps reserves the most that it can cost. The reservation is in its row (`task.reservation`), with the prices
-- that hold for it, and what its attempts have cost (`task.spent`); what is free of a cap is in a few rows (`spend_share`), so that not all who submit wait for one. At each instant, of
-- each cap: what is free + what is spent in the period + the reservations in rows of `task` = the amount.
--
-- Each table is locked for a moment only, alone, and not waited for for long. Whatever ends this in the middle, the next run does all of it
-- again.

do $$
declare
    additions constant text[] := array[
        array['task', 'add column if not exists reservation jsonb, add column if not exists spent bigint'],
        -- Of a task with a reservation: what the attempt costs, the task's own price with its first attempt, and whose prices they are.
        array['attempt', 'add column if not exists cost bigint, add column if not exists task_cost bigint,
            add column if not exists price_book text collate "C"'],
        -- The earlier rows are among these: nothing that is there has to be read for it.
        array['schedule_fire', 'drop constraint if exists schedule_fire_outcome_check'],
        array['schedule_fire', $c$add constraint schedule_fire_outcome_check
            check (outcome in ('fired', 'late', 'skipped_overlap', 'collapsed_misfire', 'skipped_misfire', 'paused', 'suspended', 'shed_quota',
                               'pool_unavailable', 'workflow_unavailable', 'shed_spend_cap')) not valid$c$],
        -- All rows are read, while the services go on.
        array['schedule_fire', 'validate constraint schedule_fire_outcome_check']
    ];
    part text[];
    t text;
begin
    perform set_config('client_min_messages', 'warning', true);
    create table if not exists public.spend_cap (
        tenant_id uuid not null references public.tenant (id),
        name text collate "C" not null check (name ~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'),
        -- What reservations name: another cap of the same name is another cap.
        id uuid not null unique default gen_random_uuid(),
        version bigint not null default 1 check (version >= 1),
        -- Of which tasks: all, those with a label, or those of a schedule.
        scope text not null check (scope in ('tenant', 'label', 'schedule')),
        label text,
        value text,
        period text not null check (period in ('day', 'month')),
        zone text not null,
        -- Micro-units.
        amount bigint not null check (amount >= 0),
        currency text not null,
        -- Shares of the amount that were used up in a period, in percent, each with when: {"50": "..."}.
        alerts jsonb not null default '{}' check (jsonb_typeof(alerts) = 'object'),
        alerts_of timestamptz,
        created_at timestamptz not null default now(),
        updated_at timestamptz not null default now(),
        primary key (tenant_id, name),
        constraint scope_is_whole check (case scope when 'tenant' then label is null and value is null
            when 'label' then label is not null and value is not null else label is null and value is not null end)
    );
    create table if not exists public.spend_share (
        tenant_id uuid not null,
        cap_id uuid not null references public.spend_cap (id) on delete cascade,
        share smallint not null check (share >= 0),
        -- The period that `spent` is of: once it is over, that is free again.
        period_start timestamptz not null,
        -- Micro-units.
        free bigint not null,
        -- Where a cap was lowered below what is used, the sum is less than nothing, and what a share has is not free.
        closed boolean not null default false,
        spent bigint not null check (spent >= 0),
        primary key (cap_id, share)
    ) with (fillfactor = 50);
    create index if not exists spend_share_of_tenant on public.spend_share (tenant_id);
    if not 'spend_cap' = any (public.berth_tenant_tables()) then
        execute format(
            'create or replace function public.berth_tenant_tables() returns text[] language sql immutable as $f$ select %L::text[] $f$',
            array['spend_share', 'spend_cap'] || public.berth_tenant_tables());
    end if;
    foreach t in array array['spend_cap', 'spend_share'] loop
        execute format('alter table public.%I enable row level security', t);
        execute format('alter table public.%I force row level security', t);
        execute format('drop policy if exists maintain on public.%I', t);
        execute format('create policy maintain on public.%I to %I using (true) with check (true)', t, current_user);
        execute format('drop policy if exists own on public.%I', t);
        execute format('create policy own on public.%I to berth_api using (coalesce(tenant_id = public.berth_current_tenant(), false))
            with check (coalesce(tenant_id = public.berth_current_tenant(), false))', t);
        execute format('drop policy if exists keep on public.%I', t);
        execute format('create policy keep on public.%I to berth_submit, berth_rm, berth_scheduler, berth_admin using (true) with check (true)', t);
        execute format('grant select on public.%I to berth_api, berth_submit, berth_rm, berth_scheduler, berth_admin', t);
    end loop;
    grant insert, update, delete on public.spend_cap to berth_api;
    grant insert, update, delete on public.spend_share to berth_api;
    drop policy if exists submit on public.price_book;
    create policy submit on public.price_book for select to berth_submit using (true);
    grant select on public.price_book to berth_submit;
    grant update on public.spend_share to berth_submit, berth_rm, berth_scheduler;
    -- To lock it, and for the alerts.
    grant update (alerts, alerts_of) on public.spend_cap to berth_scheduler;
    commit;

    -- What an attempt costs at the prices of its task's reservation, by when it was placed: half to even, as `domain::price` computes it.
    create or replace function public.berth_reserved_cost(reservation jsonb, placed_at timestamptz, ms bigint) returns bigint
        language sql immutable parallel safe set search_path = pg_catalog, pg_temp
    as $f$
        select coalesce((
            select (div(n.numerator, n.denominator) + case
                    when mod(n.numerator, n.denominator) * 2 > n.denominator
                        or (mod(n.numerator, n.denominator) * 2 = n.denominator and mod(div(n.numerator, n.denominator), 2) = 1)
                    then 1 else 0 end)::bigint
            from (select (p.price ->> 'rate')::numeric * $3 as numerator, 128000::numeric * 3600000 * 10000 as denominator
                from jsonb_array_elements($1 -> 'prices') with ordinality p(price, place)
                where (p.price ->> 'from')::bigint <= extract(epoch from $2) * 1000000
                order by p.place desc limit 1) n), 0)
    $f$;
    -- What a task costs for itself, with its first attempt.
    create or replace function public.berth_reserved_task_cost(reservation jsonb, placed_at timestamptz, attempt integer) returns bigint
        language sql immutable parallel safe set search_path = pg_catalog, pg_temp
    as $f$
        select coalesce((
            select (p.price ->> 'task')::bigint from jsonb_array_elements($1 -> 'prices') with ordinality p(price, place)
            where $3 = 1 and (p.price ->> 'from')::bigint <= extract(epoch from $2) * 1000000
            order by p.place desc limit 1), 0)
    $f$;
    -- Both, of an attempt that ends now.
    create or replace function public.berth_reserved_now(reservation jsonb, placed_at timestamptz, attempt integer, ms bigint) returns bigint
        language sql immutable parallel safe set search_path = pg_catalog, pg_temp
    as $f$
        select public.berth_reserved_cost($1, $2, $4) + public.berth_reserved_task_cost($1, $2, $3)
    $f$;
    -- How long an attempt is billed for that ends now.
    create or replace function public.berth_used_ms(charged boolean, ran_ms bigint, cap_ms bigint, placed_at timestamptz) returns bigint
        language sql stable parallel safe set search_path = pg_catalog, pg_temp
    as $f$
        select case when $1 then greatest(0, least($2, $3, (extract(epoch from now() - $4) * 1000)::bigint)) else 0 end
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
end
$$;
