-- Tells how long until buckets count, in µs; 0: they do.
--
-- KEYS: since when they count, µs.
-- ARGV: 1 where the caller was away for so long that all buckets must begin anew; µs from now in which they then begin.
-- They begin empty at that moment, for all callers alike: those who come back one after the other go over together.
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]
local since = tonumber(redis.call('GET', KEYS[1]) or '')
if not since or (ARGV[1] == '1' and since <= now) then
    since = now + tonumber(ARGV[2])
    redis.call('SET', KEYS[1], string.format('%.0f', since))
end
return math.max(0, since - now)
