-- Takes tokens of one tenant's bucket, and of its hour: the generic cell rate algorithm, as in domain/src/rate/bucket.rs.
--
-- KEYS: the tenant's counts; since when buckets count (probe.lua).
-- ARGV: tokens a second, most at once, most an hour (0: any), wanted, given back (below 0: owed), the same of the hour,
--       the hour that this speaks of, what was used of it as far as the caller knows,
--       µs since the caller owes, µs since it learned what was used.
-- Answers: granted (-1: buckets do not count yet), limit met (0 none, 1 rate, 2 hour), µs until there is more,
--          tokens left, the hour, used of it.
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]
local since = tonumber(redis.call('GET', KEYS[2]) or '')
if not since or since > now then
    return {-1, 0, since and since - now or 0, 0, 0, 0}
end

local token = 1000000 / tonumber(ARGV[1]) -- µs in which one comes
local whole = tonumber(ARGV[2]) * token   -- µs in which the bucket fills
local per_hour, wanted, back = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local kept = redis.call('HMGET', KEYS[1], 'full_at', 'hour', 'used', 'base', 'since')

-- What is owed of before buckets began empty has been paid by that.
if back < 0 and now - tonumber(ARGV[9]) < since then
    back = 0
end
-- Empty at `since`, never fuller than full, and in debt for a second at most: a debt of a smaller plan is not a larger one's.
local full_at = math.max(tonumber(kept[1] or '') or 0, since + whole) - back * token
full_at = math.min(math.max(full_at, now), now + whole + 1000000)
local free = math.max(0, math.floor((whole - (full_at - now)) / token + 0.001))
local granted, limit, wait = math.min(wanted, free), 0, 0
if granted < wanted then
    limit = 1
    wait = full_at + (granted + 1) * token - whole - now
end

-- `base` is the part of `used` that callers knew of from before buckets began anew, as the best informed of them had it.
local hour, used, base = math.floor(now / 3600000000), 0, 0
if per_hour > 0 then
    local is_present = tonumber(ARGV[7]) == hour
    local known = is_present and tonumber(ARGV[8]) or 0
    if tonumber(kept[2] or '') == hour then
        used, base = tonumber(kept[3] or '') or 0, tonumber(kept[4] or '') or 0
        if tonumber(kept[5] or '') ~= since then
            base = used
        end
    else
        used, base = known, known
    end
    if known > base and now - tonumber(ARGV[10]) < since then
        used, base = used + known - base, known
    end
    if is_present then
        used = math.max(0, used - tonumber(ARGV[6]))
    end
    local left = math.max(0, per_hour - used)
    if left < granted or (left == 0 and wanted > 0) then
        granted, limit, wait = left, 2, (hour + 1) * 3600000000 - now
    end
    used = used + granted
end

full_at = full_at + granted * token
local number = function(n) return string.format('%.0f', n) end
redis.call('HSET', KEYS[1], 'full_at', string.format('%.2f', full_at), 'hour', number(hour), 'used', number(used),
    'base', number(base), 'since', number(since))
-- A full bucket needs no key; a count lives for its hour.
local life = full_at - now
if per_hour > 0 then
    life = math.max(life, (hour + 1) * 3600000000 - now)
end
redis.call('PEXPIRE', KEYS[1], number(life / 1000 + 1000))
return {granted, limit, math.ceil(math.max(0, wait)), free - granted, hour, used}
