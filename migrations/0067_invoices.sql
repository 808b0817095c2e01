-- Invoices, credits, and how tenants are billed.
--
-- A draft is computed from the roll-up and stored nowhere. A final invoice is written once, with its lines, and from then on only how it
-- stands may change; credits and refunds are rows of their own. Triggers hold this, whoever writes. One row a tenant says which month comes
-- next: who makes its invoices final locks it, and moves it in the same transaction, so that each month is billed once.

-- Made when a tenant's first month is looked at, or when operators say how it is billed.
create table tenant_billing (
    tenant_id uuid primary key references tenant (id),
    -- Of its months: an IANA name.
    zone text collate "C" not null default 'UTC' check (zone <> '' and length(zone) <= 100),
    -- Its name at a billing provider.
    customer text check (customer <> '' and length(customer) <= 255),
    -- As invoices show it, several lines.
    address text check (address <> '' and length(address) <= 1000),
    -- The month that is billed next: its first day, and the instants at which it begins and ends.
    month date not null check (extract(day from month) = 1),
    starts_at timestamptz not null,
    ends_at timestamptz not null check (ends_at > starts_at)
);
create index tenant_billing_ending on tenant_billing (ends_at);

create table invoice (
    tenant_id uuid not null references tenant (id),
    -- The month and the sequence: 2030-01-0007.
    number text collate "C" not null check (number ~ '^[0-9]{4}-[0-9]{2}-[0-9]{4,}$'),
    -- Counts the tenant's invoices, from 1, without gaps.
    sequence integer not null check (sequence >= 1),
    month date not null check (extract(day from month) = 1),
    currency text collate "C" not null check (currency ~ '^[A-Z]{3}$'),
    zone text collate "C" not null,
    starts_at timestamptz not null,
    ends_at timestamptz not null check (ends_at > starts_at),
    state text collate "C" not null default 'final' check (state in ('final', 'paid', 'void')),
    -- Micro-units.
    total bigint not null check (total >= 0),
    -- `store::invoice::InvoiceDocument`: lines, seller and customer as they were.
    document jsonb not null check (jsonb_typeof(document -> 'lines') = 'array'),
    finalized_at timestamptz not null default now(),
    paid_at timestamptz,
    voided_at timestamptz,
    primary key (tenant_id, number),
    unique (tenant_id, sequence),
    unique (tenant_id, month, currency),
    check ((state = 'paid') = (paid_at is not null)),
    check ((state = 'void') = (voided_at is not null))
);

create table credit (
    tenant_id uuid not null references tenant (id),
    -- Given by whoever makes it, so that it is made once.
    key text collate "C" not null check (key ~ '^[A-Za-z0-9._:-]{1,100}$'),
    -- credit: the next invoice of the currency applies it. refund: it was paid back, and no invoice applies it. carried: what credits of an
    -- invoice exceeded its charges by. returned: what an invoice had credited that is void.
    kind text collate "C" not null check (kind in ('credit', 'refund', 'carried', 'returned')),
    currency text collate "C" not null check (currency ~ '^[A-Z]{3}$'),
    -- Micro-units; negative: in the tenant's favour.
    amount bigint not null check (amount <> 0 and abs(amount) <= 1000000000000000),
    -- The invoice that it is about.
    invoice text collate "C",
    reason text not null check (reason <> '' and length(reason) <= 500),
    -- The invoice that applied it.
    applied_to text collate "C",
    created_at timestamptz not null default clock_timestamp(),
    primary key (tenant_id, key),
    foreign key (tenant_id, invoice) references invoice (tenant_id, number),
    foreign key (tenant_id, applied_to) references invoice (tenant_id, number),
    check (kind = 'credit' or invoice is not null),
    check (kind <> 'refund' or (amount < 0 and applied_to is null)),
    check (kind <> 'carried' or amount < 0)
);
create index credit_waiting on credit (tenant_id, currency) where applied_to is null and kind <> 'refund';
create index credit_about on credit (tenant_id, invoice) where invoice is not null;
create index credit_applied on credit (tenant_id, applied_to) where applied_to is not null;

create function berth_invoice_kept() returns trigger language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
    if tg_op = 'DELETE' then
        raise exception 'an invoice is never deleted' using errcode = 'integrity_constraint_violation';
    end if;
    if old.state <> 'final' or new.state not in ('paid', 'void')
        or (to_jsonb(new) - array['state', 'paid_at', 'voided_at']) is distinct from (to_jsonb(old) - array['state', 'paid_at', 'voided_at'])
    then
        raise exception 'a final invoice changes in nothing but being paid or void' using errcode = 'integrity_constraint_violation';
    end if;
    return new;
end
$$;
create trigger berth_invoice_kept before update or delete on invoice for each row execute function berth_invoice_kept();

create function berth_credit_kept() returns trigger language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
    if tg_op = 'DELETE' then
        raise exception 'a credit is never deleted' using errcode = 'integrity_constraint_violation';
    end if;
    if old.applied_to is not null or new.applied_to is null
        or (to_jsonb(new) - 'applied_to') is distinct from (to_jsonb(old) - 'applied_to')
    then
        raise exception 'a credit changes in nothing but being applied once' using errcode = 'integrity_constraint_violation';
    end if;
    return new;
end
$$;
create trigger berth_credit_kept before update or delete on credit for each row execute function berth_credit_kept();
revoke execute on function berth_invoice_kept(), berth_credit_kept() from public;

do $$
declare
    t text;
begin
    foreach t in array array['tenant_billing', 'invoice', 'credit'] loop
        execute format('alter table %I enable row level security', t);
        execute format('alter table %I force row level security', t);
        execute format('create policy maintain on %I to %I using (true) with check (true)', t, current_user);
        execute format('create policy bill on %I to berth_scheduler using (true) with check (true)', t);
        execute format('create policy administer on %I to berth_admin using (true) with check (true)', t);
        execute format('create policy own on %I for select to berth_api using (coalesce(tenant_id = berth_current_tenant(), false))', t);
        execute format('grant select on %I to berth_api, berth_scheduler, berth_admin', t);
        execute format('grant insert on %I to berth_scheduler, berth_admin', t);
    end loop;
end
$$;
grant update on tenant_billing to berth_scheduler, berth_admin;
grant update (state, paid_at, voided_at) on invoice to berth_admin;
grant update (applied_to) on credit to berth_scheduler, berth_admin;

-- Operators export what was used, attempt by attempt, up to where it is counted.
create policy export on attempt for select to berth_admin using (true);
create policy export on task_spec for select to berth_admin using (true);
create policy export on event_cursor for select to berth_admin using (true);
grant select (tenant_id, task_id, attempt, outcome, charged, pool, tier, cpu_millis, memory_mib, disk_mib, iops, ports, placed_at, ended_at, usage_ms,
    tolerance_ms, flexible, txid, cost, task_cost, price_book) on attempt to berth_admin;
grant select (id, tenant_id, delay_tolerance_ms) on task_spec to berth_admin;
grant select on event_cursor to berth_admin;

-- That a month was billed is told in the tenant's audit.
create policy tell_of_an_invoice on audit for insert to berth_scheduler
    with check (actor_kind = 'system' and action = 'invoice.finalize');
