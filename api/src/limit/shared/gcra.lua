-- Leases tokens from a tenant's bucket and counts its hour: the generic cell rate algorithm, as in domain/src/rate/bucket.rs.
--
-- KEYS: the epoch; the tenant (without it the call only says that a process is served, and the wait is that for the epoch).
-- ARGV: 1 µs since the caller was last served (0: it is served), 2 tokens per second, 3 burst, 4 tokens per hour (0: no limit),
--       5 tokens wanted, 6 tokens returned (below 0: admitted without a lease), 7 µs since the first of these, 8 the same of the hour,
--       9 the hour of 8 and 10, 10 used in that hour as the caller knows, 11 µs since it learned that.
-- Returns granted, limit met (0 none, 1 rate, 2 hour), µs until more is granted, tokens left, the hour, used in it.
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]
local function number(value) return tonumber(value or '') or 0 end
local function text(value) return string.format('%.0f', value) end

-- The epoch is when all buckets begin, empty: 0.5 s after Redis has lost its data; or after no process was served for 3 s and one
-- comes back that had to go on without Redis, as the data may be old and the buckets have filled meanwhile. By then all processes
-- know of it. Where others were served, one that comes back has lost nothing but its connection. The end of the gap is kept
-- (`resumed`), because calls from before the outage may be executed first.
local epoch = redis.call('HMGET', KEYS[1], 'since', 'served', 'resumed')
local since, served, resumed, away = number(epoch[1]), number(epoch[2]), number(epoch[3]), tonumber(ARGV[1])
-- A gap that ends in the future is of a clock that was set back since: it would begin all buckets anew until then.
if resumed > now then resumed = 0 end
if now - served > 3000000 then resumed = now end
local is_old = away > 1000000 and resumed > now - away and since < resumed
if since == 0 or since > now + 500000 or is_old then since = now + 500000 end
if since ~= number(epoch[1]) or math.abs(now - served) > 250000 then
    redis.call('HSET', KEYS[1], 'since', text(since), 'served', text(now), 'resumed', text(resumed))
end
if not KEYS[2] then return {0, 0, math.max(0, since - now), 0, 0, 0} end
-- The caller knows this code.
if since > now then return redis.error_reply('EPOCH buckets do not count yet') end

local per_second, burst, per_hour = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local wanted, returned, age = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
local token = 1000000 / per_second -- µs in which one token comes
local whole = burst * token        -- µs in which the bucket fills
local kept = redis.call('HMGET', KEYS[2], 'full_at', 'hour', 'used', 'base', 'since')

-- Of what is returned or owed, the part from before the epoch does not count: the bucket began empty.
if age > now - since then returned = returned * (now - since) / age end
-- Never fuller than full, and at most one second in debt: a debt made under a smaller plan is not a larger one's.
local full_at = math.max(number(kept[1]), since + whole) - returned * token
full_at = math.min(math.max(full_at, now), now + whole + 1000000)
local free = math.max(0, math.floor((whole - (full_at - now)) / token + 0.001))
local granted, limit, wait = math.min(wanted, free), 0, 0
if granted < wanted then
    limit, wait = 1, full_at + (granted + 1) * token - whole - now
end

-- Where the count of the hour may be lost, the best informed caller says what it was; `base` is what is included of that.
local hour, used, base = math.floor(now / 3600000000), 0, 0
if per_hour > 0 then
    local is_lost = number(kept[2]) ~= hour
    if not is_lost then
        used, base = number(kept[3]), number(kept[4])
        if number(kept[5]) ~= since then base = used end
    end
    if tonumber(ARGV[9]) == hour then
        local known = tonumber(ARGV[10])
        if known > base and (is_lost or tonumber(ARGV[11]) > now - since) then
            used, base = used + known - base, known
        end
        used = math.max(0, used - tonumber(ARGV[8]))
    end
    local left = math.max(0, per_hour - used)
    if left < granted or (left == 0 and wanted > 0) then
        granted, limit, wait = left, 2, (hour + 1) * 3600000000 - now
    end
    used = used + granted
end

full_at = full_at + granted * token
redis.call('HSET', KEYS[2], 'full_at', string.format('%.2f', full_at), 'hour', text(hour), 'used', text(used),
    'base', text(base), 'since', text(since))
-- A full bucket needs no key; a count of the hour is kept until it ends.
local life = full_at - now
if per_hour > 0 then life = math.max(life, (hour + 1) * 3600000000 - now) end
redis.call('PEXPIRE', KEYS[2], text(life / 1000 + 1000))
return {granted, limit, math.ceil(math.max(0, wait)), free - granted, hour, used}
