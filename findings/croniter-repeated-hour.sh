#!/usr/bin/env bash
# croniter 7.0.0: a fixed time of day in the hour that comes twice is returned twice. `30 1 * * *` in New York on 7 November 2027
# gives 01:30 EDT and 01:30 EST. In the gap it does the other way round: a pattern that recurs is moved as a fixed time is, so that
# `0 */2 * * *` on 14 March 2027 gives 03:00 EDT and then 04:00 EDT.
#
# The usual cron (Vixie, cronie) runs the first once, and the second not at the gap: a job is fixed unless its minute or hour field
# begins with `*`. cronsim 2.8, another library for Python, follows that rule; so does Berth (docs/time.md, "When the clocks change").
# It matters where jobs that must run once a day (a bill, a backup) are driven by croniter in a zone with summer time.
#
# Exits 0 while the behaviour is as described, 1 once it is not.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install croniter==7.0.0 cronsim==2.8 tzdata==2026.5
"$folder/venv/bin/python" - <<'PYTHON'
import sys
import zoneinfo
from datetime import datetime
from importlib.metadata import version

from croniter import croniter
from cronsim import CronSim

zoneinfo.reset_tzpath([])
zone = zoneinfo.ZoneInfo("America/New_York")
print("croniter", version("croniter"), "cronsim", version("cronsim"))
same = True
for pattern, day, wanted in [
    ("30 1 * * *", datetime(2027, 11, 7), (["01:30 EDT", "01:30 EST"], ["01:30 EDT"])),
    ("0 */2 * * *", datetime(2027, 3, 14), (["00:00 EST", "03:00 EDT", "04:00 EDT"], ["00:00 EST", "04:00 EDT"])),
]:
    before = datetime(day.year, day.month, day.day - 1, 23, 59, tzinfo=zone)
    ours = croniter(pattern, before)
    lists = [[ours.get_next(datetime) for _ in range(3)], [at for _, at in zip(range(3), CronSim(pattern, before))]]
    seen = [[f"{at:%H:%M %Z}" for at in due if at.day == day.day and at.hour < 5] for due in lists]
    print(f"{pattern:12} {day:%F}  croniter: {', '.join(seen[0])}   cronsim: {', '.join(seen[1])}")
    same &= tuple(seen) == wanted
sys.exit(0 if same else 1)
PYTHON
