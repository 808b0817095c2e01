#!/usr/bin/env bash
# APScheduler 3.11.3, CronTrigger.from_crontab: the numbers of weekdays count from Monday as 0, and not from Sunday as in crontab.
# `0 0 * * 1` runs on Tuesdays, `0 0 * * 0` on Mondays; `0 0 * * 7` is refused. Names (`mon`) mean what they say.
# And both fields of days must match: `0 0 13 * fri` is Friday the 13th, where cron runs on each Friday and on each 13th.
#
# It matters where crontab lines are moved to or from a scheduler that is built on APScheduler: with a number for the weekday every
# job runs a day late, and nothing reports it. Berth counts Sunday as 0 and 7, and Monday as 1 (docs/time.md, "Cron patterns").
#
# Exits 0 while the behaviour is as described, 1 once it is not.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install APScheduler==3.11.3
"$folder/venv/bin/python" - <<'PYTHON'
import sys
from datetime import datetime, timezone
from importlib.metadata import version

from apscheduler.triggers.cron import CronTrigger

print("APScheduler", version("APScheduler"))
now = datetime(2027, 1, 1, tzinfo=timezone.utc)
same = True
for pattern, crontab, wanted in [
    ("0 0 * * 1", "Mon 2027-01-04", "Tue 2027-01-05"),
    ("0 0 * * 0", "Sun 2027-01-03", "Mon 2027-01-04"),
    ("0 0 * * mon", "Mon 2027-01-04", "Mon 2027-01-04"),
    ("0 0 13 * fri", "Fri 2027-01-01", "Fri 2027-08-13"),
]:
    seen = CronTrigger.from_crontab(pattern, timezone="UTC").get_next_fire_time(None, now).strftime("%a %F")
    print(f"{pattern:14} cron: {crontab}   APScheduler: {seen}")
    same &= seen == wanted
sys.exit(0 if same else 1)
PYTHON
