-- What the service roles may do in this database: a statement a row, and what takes it back. Roles are named without their prefix,
-- which is in the setting `berth.role_prefix`. Run by store/src/migrate/access.rs, and by scripts/sqlx-prepare, which writes the result
-- into access.sql. The owner's policies, all called `maintain`, and the partitions of days are not in it: see access.rs.
with service as (
    select r.oid, substr(r.rolname, length(p.prefix) + 1) as name
    from (select coalesce(current_setting('berth.role_prefix', true), '') as prefix) p
    join pg_catalog.pg_roles r on r.rolname = any (array[p.prefix || 'berth_api', p.prefix || 'berth_submit',
        p.prefix || 'berth_scheduler', p.prefix || 'berth_rm', p.prefix || 'berth_admin'])
), relation as (
    select c.oid, quote_ident(c.relname) as name, c.relacl, c.relkind, c.relrowsecurity and c.relforcerowsecurity as secured
    from pg_catalog.pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v')
        and not (c.relispartition and c.relname ~ '_[0-9]{8}$')
), granted as (
    select t.name as relation, s.name as service, string_agg(lower(a.privilege_type), ', ' order by a.privilege_type) as privileges
    from relation t cross join lateral aclexplode(t.relacl) a join service s on s.oid = a.grantee
    group by t.name, s.name
), granted_columns as (
    select t.name as relation, s.name as service, lower(a.privilege_type) as privilege,
        string_agg(quote_ident(c.attname), ', ' order by c.attname) as columns
    from relation t join pg_catalog.pg_attribute c on c.attrelid = t.oid
    cross join lateral aclexplode(c.attacl) a join service s on s.oid = a.grantee
    group by t.name, s.name, a.privilege_type
), routine as (
    select p.oid::regprocedure::text as name, p.proacl from pg_catalog.pg_proc p where p.pronamespace = 'public'::regnamespace
), policy as (
    select t.name as relation, quote_ident(p.polname) as name, p.polpermissive,
        case p.polcmd when 'r' then 'select' when 'a' then 'insert' when 'w' then 'update' when 'd' then 'delete' else 'all' end as command,
        (select string_agg(coalesce(s.name, 'public'), ', ' order by s.name) from unnest(p.polroles) r left join service s on s.oid = r) as roles,
        regexp_replace(pg_get_expr(p.polqual, p.polrelid), '\s+', ' ', 'g') as qual,
        regexp_replace(pg_get_expr(p.polwithcheck, p.polrelid), '\s+', ' ', 'g') as checked
    from relation t join pg_catalog.pg_policy p on p.polrelid = t.oid
    where exists (select from service s where s.oid = any (p.polroles))
)
select 1 as place, 'revoke create on schema public from public' as statement, 'grant create on schema public to public' as undo
    from pg_catalog.pg_namespace n
    where n.nspname = 'public'
        and not exists (select from aclexplode(n.nspacl) a where a.grantee = 0 and a.privilege_type = 'CREATE')
union all
select 2, 'grant usage on schema public to ' || s.name, 'revoke usage on schema public from ' || s.name
    from pg_catalog.pg_namespace n cross join lateral aclexplode(n.nspacl) a join service s on s.oid = a.grantee
    where n.nspname = 'public' and a.privilege_type = 'USAGE'
union all
select 3, format('grant %s on %s to %s', g.privileges, g.relation, g.service),
        format('revoke %s on %s from %s', g.privileges, g.relation, g.service)
    from granted g
union all
select 4, format('grant %s (%s) on %s to %s', g.privilege, g.columns, g.relation, g.service),
        format('revoke %s (%s) on %s from %s', g.privilege, g.columns, g.relation, g.service)
    from granted_columns g
union all
select 5, format('revoke execute on function %s from public', r.name), format('grant execute on function %s to public', r.name)
    from routine r
    where r.proacl is not null
        and not exists (select from aclexplode(r.proacl) a where a.grantee = 0 and a.privilege_type = 'EXECUTE')
union all
select 6, format('grant execute on function %s to %s', r.name, s.name), format('revoke execute on function %s from %s', r.name, s.name)
    from routine r cross join lateral aclexplode(r.proacl) a join service s on s.oid = a.grantee
union all
select 7, format('alter table %s enable row level security, force row level security', t.name),
        format('alter table %s disable row level security, no force row level security', t.name)
    from relation t where t.relkind <> 'v' and t.secured
union all
select 8, format('create policy %s on %s as %s for %s to %s', p.name, p.relation,
            case when p.polpermissive then 'permissive' else 'restrictive' end, p.command, p.roles)
            || coalesce(' using (' || p.qual || ')', '') || coalesce(' with check (' || p.checked || ')', ''),
        format('drop policy %s on %s', p.name, p.relation)
    from policy p
