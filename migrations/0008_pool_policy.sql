-- What a pool allows its attempts beyond the strict default.

alter table pool
    -- Commands reach the network of their executor.
    add column command_network boolean not null default false,
    -- HTTP tasks reach private, loopback and link-local addresses.
    add column private_targets boolean not null default false;

grant update (command_network, private_targets) on pool to berth_admin;
