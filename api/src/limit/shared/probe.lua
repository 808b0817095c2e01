-- Tells how long until buckets count, in µs; 0: they do.
--
-- KEYS: since when they count, µs; when somebody was last told.
-- ARGV: 0, or where the caller comes back after an outage: all buckets must begin anew if nobody was told for so many µs;
--       µs from now in which they then begin.
-- They begin empty at that moment, for all callers alike: those who come back one after the other go over together. Where others
-- have counted on while one was away, nothing is lost but its connection, and nothing begins anew.
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]
local since = tonumber(redis.call('GET', KEYS[1]) or '')
local seen = tonumber(redis.call('GET', KEYS[2]) or '') or 0
local uncounted = tonumber(ARGV[1])
if not since or (uncounted > 0 and now - seen > uncounted and since <= now) then
    since = now + tonumber(ARGV[2])
    redis.call('SET', KEYS[1], string.format('%.0f', since))
end
redis.call('SET', KEYS[2], string.format('%.0f', now))
return math.max(0, since - now)
