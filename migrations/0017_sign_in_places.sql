-- From where accounts were signed in to of late: who guesses at an account from elsewhere does not keep its owner out.

create table sign_in_place (
    -- Keyed hash of the account and the peer.
    subject bytea primary key check (length(subject) = 32),
    -- When the password was right there, to within a day.
    seen_at timestamptz not null default now()
);

create index sign_in_place_by_age on sign_in_place (seen_at);

grant select, insert, update, delete on sign_in_place to berth_submit;
