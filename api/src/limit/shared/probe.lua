-- Tells how long until buckets count, in µs; 0: they do.
--
-- KEYS: since when they count, µs; when somebody was last told, and when that was after a gap.
-- ARGV: µs for which the caller was away, 0: it was not; µs from now in which buckets begin anew, where they must;
--       µs without anybody who was told that are a gap.
-- They begin empty at that moment, for all callers alike: those who come back one after the other go over together. Where others
-- have counted on while one was away, nothing is lost but its connection, and nothing begins anew. The end of a gap is remembered:
-- calls of before may come first, when a Redis that hung goes on.
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]
local since = tonumber(redis.call('GET', KEYS[1]) or '')
local kept = redis.call('HMGET', KEYS[2], 'at', 'resumed')
local resumed = tonumber(kept[2] or '') or 0
if now - (tonumber(kept[1] or '') or 0) > tonumber(ARGV[3]) then
    resumed = now
end
if not since or (resumed > now - tonumber(ARGV[1]) and since < resumed) then
    since = now + tonumber(ARGV[2])
    redis.call('SET', KEYS[1], string.format('%.0f', since))
end
redis.call('HSET', KEYS[2], 'at', string.format('%.0f', now), 'resumed', string.format('%.0f', resumed))
return math.max(0, since - now)
