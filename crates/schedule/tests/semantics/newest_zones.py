"""Prints the version of tzdata from PyPI, then lines `NAME SECOND OFFSET` with the offsets of the next ten years."""

import datetime
import importlib.resources
import time
import zoneinfo

HOUR = 3600
HOURS = 3652 * 24


def offset(zone, second):
    return int(datetime.datetime.fromtimestamp(second, zone).utcoffset().total_seconds())


def changes(zone, first):
    """The first second and each second at which the offset changes, with the offsets."""
    known = offset(zone, first)
    yield first, known
    for at in range(first, first + HOURS * HOUR, HOUR):
        if offset(zone, at + HOUR) == known:
            continue
        before, after = at, at + HOUR
        while after - before > 1:
            middle = (before + after) // 2
            before, after = (middle, after) if offset(zone, middle) == known else (before, middle)
        known = offset(zone, after)
        yield after, known


sources = importlib.resources.files("tzdata.zoneinfo").joinpath("tzdata.zi").read_text()
print(sources.splitlines()[0].removeprefix("# version "))
start = int(time.time()) // HOUR * HOUR
for name in sorted(zoneinfo.available_timezones() - {"Factory", "localtime"}):
    for second, ahead in changes(zoneinfo.ZoneInfo(name), start):
        print(name, second, ahead)
