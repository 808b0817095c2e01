-- What an attempt costs by its task's reservation, as before, for a twentieth of the time: a function in SQL is planned in each statement, one in
-- PL/pgSQL once in each session, and one that is a single expression and sets nothing is part of the statement's own plan.

-- Half to even, as `domain::price` computes it: of the last price that held when it was placed.
create or replace function berth_reserved_cost(reservation jsonb, placed_at timestamptz, ms bigint) returns bigint
    language plpgsql immutable parallel safe
as $$
declare
    prices constant jsonb := reservation -> 'prices';
    denominator constant numeric := 4608000000000000;
    numerator numeric;
    whole numeric;
    rest numeric;
begin
    for place in reverse jsonb_array_length(prices) - 1 .. 0 loop
        if (prices -> place ->> 'from')::bigint <= extract(epoch from placed_at) * 1000000 then
            numerator := (prices -> place ->> 'rate')::numeric * ms;
            whole := div(numerator, denominator);
            rest := (numerator - whole * denominator) * 2;
            return whole + case when rest > denominator or (rest = denominator and mod(whole, 2) = 1) then 1 else 0 end;
        end if;
    end loop;
    return 0;
end
$$;
-- What a task costs for itself, with its first attempt.
create or replace function berth_reserved_task_cost(reservation jsonb, placed_at timestamptz, attempt integer) returns bigint
    language plpgsql immutable parallel safe
as $$
declare
    prices constant jsonb := reservation -> 'prices';
begin
    if attempt = 1 then
        for place in reverse jsonb_array_length(prices) - 1 .. 0 loop
            if (prices -> place ->> 'from')::bigint <= extract(epoch from placed_at) * 1000000 then
                return (prices -> place ->> 'task')::bigint;
            end if;
        end loop;
    end if;
    return 0;
end
$$;
-- Both, of an attempt that ends now.
create or replace function berth_reserved_now(reservation jsonb, placed_at timestamptz, attempt integer, ms bigint) returns bigint
    language plpgsql immutable parallel safe
as $$
begin
    return public.berth_reserved_cost(reservation, placed_at, ms)
        + case when attempt = 1 then public.berth_reserved_task_cost(reservation, placed_at, attempt) else 0 end;
end
$$;
-- How long an attempt is billed for that ends now.
create or replace function berth_used_ms(charged boolean, ran_ms bigint, cap_ms bigint, placed_at timestamptz) returns bigint
    language sql stable parallel safe
as $$ select case when $1 then greatest(0, least($2, $3, (extract(epoch from now() - $4) * 1000)::bigint)) else 0 end $$;
