#!/usr/bin/env python3
"""Draws timings and finds their due times in the plainest way there is; writes cases.jsonl beside it.

    pip install tzdata==2026.5 && python3 reference.py

It shares nothing with the product but the rule: it looks at every minute of real time, one by one, and asks Python's
zoneinfo what the clock on the wall shows. The rule:
- A cron pattern whose minute or hour field begins with `*` recurs: it is due whenever the clock shows its time.
- Any other time of day is fixed: due once a day. Where the clock never shows it (clocks go forward), `gap` decides: next_valid is
  the first minute after the gap, all of one gap together once; skip is not at all. Where the clock shows it twice (clocks go
  back), `repeat` decides: first, last, or both.
- A day must match both the day of the month and the day of the week where one of the two fields begins with `*` or is `?`;
  where both are restricted, either is enough.
- Nothing is due before start_at or after end_at, nor on an excluded day of the zone; a range of days has both its ends.

Each line: the timing, `after` and `until` in minutes since 1970, the due times between them (at most 24) as minutes since
1970, and for each a letter: s it stands for a gap, r the first of a time that comes twice, a the second, . neither.
"""

import calendar
import json
import random
import zoneinfo
from datetime import date, datetime, timedelta, timezone
from pathlib import Path

import tzdata

zoneinfo.reset_tzpath([])  # the package's data, not the machine's

ZONES = [
    "America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "Africa/Casablanca", "Asia/Tehran", "America/Sao_Paulo",
    "Pacific/Apia", "Antarctica/Troll", "Asia/Kathmandu", "Europe/Dublin", "America/St_Johns", "Africa/Cairo",
]
CASES, MOST = 2000, 24
NAMED_DAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"]
EPOCH = datetime(1970, 1, 1)
DAY = 1440


def minute_of(civil):
    return int((civil - EPOCH).total_seconds()) // 60


def shown(zone, minute):
    """What the clock on the wall shows, as a plain date and time."""
    return datetime.fromtimestamp(minute * 60, zone).replace(tzinfo=None, fold=0)


def changes(zone):
    """The minutes at which the offset is another than a minute before, 1990 to 2037."""
    offset = lambda minute: minute_of(shown(zone, minute)) - minute
    hour, last = minute_of(datetime(1990, 1, 1)), minute_of(datetime(2037, 12, 1))
    found = []
    while hour < last:
        if offset(hour) != offset(hour + 60):
            found += [m for m in range(hour + 1, hour + 61) if offset(m) != offset(m - 1)]
        hour += 60
    return found


# --- cron patterns, read anew ---

MONTHS = {name.lower(): n for n, name in enumerate(calendar.month_abbr) if name}
WEEKDAYS = {name[:3]: n for n, name in enumerate(NAMED_DAYS)}


def numbers(field, low, high, names=()):
    """The numbers of a plain cron field."""
    field = field.replace("?", "*")
    number = lambda text: names[text] if text in names else int(text)
    found = set()
    for part in field.lower().split(","):
        span, _, step = part.partition("/")
        if span == "*":
            first, last = low, high
        elif "-" in span:
            first, last = map(number, span.split("-"))
            last = 7 if span.endswith("sun") else last
        else:
            first = last = number(span)
        found |= set(range(first, last + 1, int(step or 1)))
    return found


def nearest_weekday(year, month, day):
    length = calendar.monthrange(year, month)[1]
    if day > length:
        return None
    weekday = date(year, month, day).weekday()
    if weekday == 5:
        return day - 1 if day > 1 else day + 2
    if weekday == 6:
        return day + 1 if day < length else day - 2
    return day


def day_of_month_matches(field, day):
    length = calendar.monthrange(day.year, day.month)[1]
    for part in field.upper().split(","):
        if part == "L":
            hit = day.day == length
        elif part == "LW":
            last = date(day.year, day.month, length)
            hit = day == last - timedelta(days=max(0, last.weekday() - 4))
        elif part.endswith("W"):
            hit = nearest_weekday(day.year, day.month, int(part[:-1])) == day.day
        else:
            hit = day.day in numbers(part, 1, 31)
        if hit:
            return True
    return False


def weekday_matches(field, day):
    weekday = day.isoweekday() % 7
    for part in field.lower().split(","):
        if "#" in part:
            name, nth = part.split("#")
            hit = numbers(name, 0, 7, WEEKDAYS) == {weekday} and (day.day - 1) // 7 + 1 == int(nth)
        elif part.endswith("l"):
            next_week = day + timedelta(days=7)
            hit = {n % 7 for n in numbers(part[:-1], 0, 7, WEEKDAYS)} == {weekday} and next_week.month != day.month
        else:
            hit = weekday in {n % 7 for n in numbers(part, 0, 7, WEEKDAYS)}
        if hit:
            return True
    return False


def cron(text):
    minute, hour, day_of_month, month, weekday = text.split()
    minutes, hours = numbers(minute, 0, 59), numbers(hour, 0, 23)
    months = numbers(month, 1, 12, MONTHS)

    def on(day):
        if day.month not in months:
            return False
        both = "*?".count(day_of_month[0]) or "*?".count(weekday[0])
        return (all if both else any)((day_of_month_matches(day_of_month, day), weekday_matches(weekday, day)))

    times = {h * 60 + m for h in hours for m in minutes}
    return on, times, minute.startswith("*") or hour.startswith("*")


def words(kind, given):
    times = {int(at[:2]) * 60 + int(at[3:]) for at in given["at"]}
    last = lambda day: calendar.monthrange(day.year, day.month)[1] == day.day
    on = {
        "daily": lambda day: True,
        "weekly": lambda day: NAMED_DAYS[day.isoweekday() % 7] in given["on"],
        "monthly": lambda day: day.day in given["on"] or ("last" in given["on"] and last(day)),
        "yearly": lambda day: day.strftime("%m-%d") in given["on"],
    }[kind]
    return on, times, False


# --- the rule ---


class Clock:
    """What a zone's clock shows in every minute from `first` to `last`."""

    def __init__(self, zone, first, last):
        self.first = first
        self.shows = [shown(zone, minute) for minute in range(first, last)]
        self.instants = {}
        for minute, civil in enumerate(self.shows, first):
            self.instants.setdefault(civil, []).append(minute)

    def end_of_gap(self, civil):
        for before, (one, other) in enumerate(zip(self.shows, self.shows[1:]), self.first):
            if one < civil < other:
                return before + 1
        raise AssertionError(civil)


def due_of(spec, clock, gap, repeat):
    (kind, given), = spec.items()
    on, times, recurs = cron(given) if kind == "cron" else words(kind, given)
    days = {}

    def matches(civil):
        day = civil.date()
        if day not in days:
            days[day] = on(day)
        return days[day] and civil.hour * 60 + civil.minute in times

    due = {}
    if recurs:
        return {minute: "" for minute, civil in enumerate(clock.shows, clock.first) if matches(civil)}
    civil, end = min(clock.shows) + timedelta(days=1), max(clock.shows) - timedelta(days=1)
    while civil < end:
        if matches(civil):
            instants = clock.instants.get(civil, [])
            if instants:
                for minute in {"first": instants[:1], "last": instants[-1:], "both": instants}[repeat]:
                    due.setdefault(minute, "")
            elif gap == "next_valid":
                due[clock.end_of_gap(civil)] = "s"
        civil += timedelta(minutes=1)
    return due


def due_times(timing, after, until):
    zone = zoneinfo.ZoneInfo(timing["zone"])
    clock = Clock(zone, after - 3 * DAY, until + 3 * DAY)
    due = {}
    for spec in timing["specs"]:
        for minute, mark in due_of(spec, clock, timing["gap"], timing["repeat"]).items():
            due[minute] = due.get(minute, "") or mark
    instant = lambda text: minute_of(datetime.fromisoformat(text.replace("Z", "")))
    start = instant(timing["start_at"]) if "start_at" in timing else after
    end = instant(timing["end_at"]) if "end_at" in timing else until

    def excluded(minute):
        day = clock.shows[minute - clock.first].date().isoformat()
        spans = [(e, e) if isinstance(e, str) else (e["from"], e["to"]) for e in timing.get("exclude", [])]
        return any(first <= day <= last for first, last in spans)

    kept = [m for m in sorted(due) if after < m <= until and start <= m <= end and not excluded(m)][:MOST]

    def mark(minute):
        instants = clock.instants[clock.shows[minute - clock.first]]
        twice = "." if len(instants) == 1 else "r" if instants[0] == minute else "a"
        return due[minute] or twice

    return kept, "".join(map(mark, kept))


# --- drawing ---


def draw_cron(draw, near):
    hour = str(draw.choice([near.hour, near.hour, (near.hour + 23) % 24, draw.randrange(24)]))
    hour = draw.choice([hour] * 7 + ["*", "*/2", "0-23", f"{max(0, int(hour) - 1)}-{hour}", f"{hour},{(int(hour) + 5) % 24}"])
    minute = str(draw.choice([0, 0, 30, 30, 15, 59, 1, near.minute, draw.randrange(60)]))
    minute = draw.choice([minute] * 7 + ["*/15", "*/30", "0,30", "5-55/10", "0-59", "*/7"])
    day, n = str(near.day), draw.randint(1, 31)
    day = draw.choice(["*"] * 10 + [day, "L", "LW", f"{near.day}W", f"{n}W", "31", "29", f"{day},L", f"1-{day}", "1-31/2", "1W", "31W", "*/2", "*/3", "?"])
    week = near.isoweekday() % 7
    nth = (near.day - 1) // 7 + 1
    name = NAMED_DAYS[week][:3]
    week = draw.choice(["*"] * 10 + [str(week), name, f"{week}#{nth}", f"{name}#{nth}", f"{week}L", "mon-fri", "fri-sun", "0", "7", "1,3,5", "*/2", "?"])
    month = draw.choice(["*"] * 8 + [str(near.month), f"{near.month},{near.month % 12 + 1}", near.strftime("%b").lower(), "*/2"])
    return {"cron": " ".join([minute, hour, day, month, week])}


def draw_words(draw, near):
    at = lambda: "%02d:%02d" % (draw.choice([near.hour, near.hour, draw.randrange(24)]), draw.choice([0, 15, 30, 45, draw.randrange(60)]))
    times = sorted({at() for _ in range(draw.choice([1, 1, 2, 3]))})
    kind = draw.choice(["daily", "weekly", "monthly", "yearly"])
    given = {"at": times}
    if kind == "weekly":
        given["on"] = sorted({NAMED_DAYS[near.isoweekday() % 7], draw.choice(NAMED_DAYS)})
    if kind == "monthly":
        given["on"] = draw.choice([[near.day], ["last"], [near.day, "last"], [31], [29, 30], [1, 31]])
    if kind == "yearly":
        given["on"] = draw.choice([[near.strftime("%m-%d")], ["12-31", "01-01"], [near.strftime("%m-%d"), "02-29"]])
    return {kind: given}


def draw_case(draw, zone_name, changes_of):
    zone = zoneinfo.ZoneInfo(zone_name)
    year = draw.randint(1990, 2037)
    kind = draw.random()
    if kind < 0.65:
        near = draw.choice(changes_of)
    elif kind < 0.85:
        month = draw.choice([1, 3, 5, 12, draw.randint(1, 12)])
        near = minute_of(datetime(year, month, 1)) - draw.choice([0, 60, 330, 780, -60, -840])
    else:
        near = minute_of(datetime(year, 1, 1)) + draw.randrange(365 * DAY)
    # The clock shortly before, at, or after the change: what a gap leaves out or a repeat doubles.
    civil = draw.choice([shown(zone, near), shown(zone, near - 1) + timedelta(minutes=draw.choice([1, 31])), shown(zone, near - 30)])
    spec = lambda: draw_cron(draw, civil) if draw.random() < 0.7 else draw_words(draw, civil)
    timing = {"specs": [spec() for _ in range(draw.choice([1] * 9 + [2, 3]))], "zone": zone_name}
    timing["gap"] = draw.choice(["next_valid", "next_valid", "skip"])
    timing["repeat"] = draw.choice(["first", "last", "both"])
    after = near - draw.choice([1, 61, 6 * 60, DAY, 2 * DAY + 77])
    until = near + draw.choice([2, 3, 8, 33]) * DAY
    text = lambda minute: datetime.fromtimestamp(minute * 60, timezone.utc).strftime("%Y-%m-%dT%H:%M:00Z")
    if draw.random() < 0.1:
        timing["start_at"] = text(near - draw.choice([0, 30, 60]))
    if draw.random() < 0.1:
        timing["end_at"] = text(near + draw.choice([0, 30, 60, DAY]))
    if draw.random() < 0.15:
        day = civil.date() + timedelta(days=draw.choice([-1, 0, 1]))
        to = day + timedelta(days=draw.choice([1, 5]))
        timing["exclude"] = draw.choice([[day.isoformat()], [{"from": day.isoformat(), "to": to.isoformat()}]])
    due, marks = due_times(timing, after, until)
    return {"timing": timing, "after": after, "until": until, "due": due, "marks": marks}


def main():
    draw = random.Random(19_90_20_37)
    changes_of = {name: changes(zoneinfo.ZoneInfo(name)) for name in ZONES}
    # A zone without changes since 1990 is drawn near midnights of its own.
    for name in ZONES:
        changes_of[name] = changes_of[name] or [minute_of(datetime(y, m, 1)) for y in range(1990, 2038) for m in (1, 3, 12)]
    lines = [json.dumps({"tzdb": tzdata.IANA_VERSION, "cases": CASES})]
    for n in range(CASES):
        lines.append(json.dumps(draw_case(draw, ZONES[n % len(ZONES)], changes_of[ZONES[n % len(ZONES)]]), separators=(",", ":")))
    Path(__file__).with_name("cases.jsonl").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
