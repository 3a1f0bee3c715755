"""The days that the events of iCalendar files cover, as other libraries read them.

    oracle.py DIR                  write NAME.dates next to each NAME.ics
    oracle.py published DIR        write the files of PyPI packages, and the holidays of all countries
    oracle.py generate DIR SEED N  write N random files, in the style of several calendar programs

The days come from recurring-ical-events and icalendar (PyPI), from 2020 to 2031.
"""

import datetime as dt
import random
import sys
import warnings
from pathlib import Path

import icalendar
import recurring_ical_events

FIRST, END = dt.date(2020, 1, 1), dt.date(2032, 1, 1)
DAY = dt.timedelta(days=1)


def repaired(calendar):
    """If dates end at a time of day, moves the end to the next date, as calendar programs show it."""
    for event in calendar.walk("VEVENT"):
        start = event.get("DTSTART")
        is_date = start and not isinstance(start.dt, dt.datetime)
        end = event.get("DTEND")
        if is_date and end and isinstance(end.dt, dt.datetime):
            day = end.dt.date()
            event["DTEND"] = icalendar.vDate(day if end.dt.time() == dt.time(0) else day + DAY)
        length = event.get("DURATION")
        if is_date and length and length.dt % DAY:
            event["DURATION"] = icalendar.vDuration(length.dt - length.dt % DAY + DAY)
    return calendar


def days(data):
    """The days of all-day events."""
    calendars = icalendar.Calendar.from_ical(data, multiple=True)
    covered = set()
    for event, zone in (it for calendar in calendars for it in occurrences(repaired(calendar))):
        start, end = event.start, event.end
        if str(event.get("STATUS", "")).upper() == "CANCELLED":
            continue
        if isinstance(start, dt.datetime):
            # A recurrence can be written in another zone than its event.
            if zone and start.tzinfo:
                start, end = start.astimezone(zone), end.astimezone(zone)
            start, end = start.replace(tzinfo=None), end.replace(tzinfo=None)
            if start.time() != dt.time(0) or end <= start or (end - start) % DAY:
                continue
            start, end = start.date(), end.date()
        day = start
        while day < max(end, start + DAY):
            covered.add(day)
            day += DAY
    return sorted(it for it in covered if FIRST <= it < END)


def occurrences(calendar):
    """The occurrences that might affect these years, with the zones of their events."""
    zones = {}
    for event in calendar.walk("VEVENT"):
        if "RECURRENCE-ID" not in event and "DTSTART" in event:
            zones[event.get("UID")] = getattr(event["DTSTART"].dt, "tzinfo", None)
    # Start early, because an event can be long.
    for event in recurring_ical_events.of(calendar).between(FIRST - 400 * DAY, END + DAY):
        yield event, zones.get(event.get("UID"))


def write(path, data):
    found = days(data)
    path.write_bytes(data)
    path.with_suffix(".dates").write_text("".join(f"{day}\n" for day in found))


# Several versions of an event. The libraries use the one with the highest SEQUENCE. dayshift treats them as
# separate events, because some feeds give all events the same UID.
VERSIONS = ["issue_148", "issue_163", "issue_253"]


def published(directory):
    """The test files of other projects, and the exports of the package `holidays`."""
    import holidays
    from holidays.ical import ICalExporter

    for path in sorted(Path(icalendar.__file__).parents[1].glob("**/*.ics")):
        if any(it in path.name for it in VERSIONS):
            continue
        try:
            write(directory / f"package-{path.parent.name}-{path.name}", path.read_bytes())
        except Exception as error:  # files that the library cannot read are not compared
            print(f"{path.name}: {error!r}"[:200])
    for country in sorted(holidays.list_supported_countries(include_aliases=False)):
        of_country = holidays.country_holidays(country, years=range(2020, 2032))
        write(directory / f"holidays-{country}.ics", ICalExporter(of_country).generate().encode())


ZONES = {
    "Europe/Berlin": "Europe/Berlin",
    "America/New_York": "America/New_York",
    "Australia/Sydney": "Australia/Sydney",
    "Asia/Kolkata": "Asia/Kolkata",
    '"W. Europe Standard Time"': "Europe/Berlin",
    "Eastern Standard Time": "America/New_York",
    "AUS Eastern Standard Time": "Australia/Sydney",
    "/freeassociation.sourceforge.net/Europe/Berlin": "Europe/Berlin",
    "Own Zone": "Europe/Berlin",
}

OWN_ZONE = """BEGIN:VTIMEZONE
TZID:Own Zone
BEGIN:STANDARD
DTSTART:16011028T030000
RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=10
TZOFFSETFROM:+0200
TZOFFSETTO:+0100
END:STANDARD
BEGIN:DAYLIGHT
DTSTART:16010325T020000
RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=3
TZOFFSETFROM:+0100
TZOFFSETTO:+0200
END:DAYLIGHT
END:VTIMEZONE"""


class Event:
    """A random event."""

    def __init__(self, chance, number):
        self.chance, self.number = chance, number
        self.zone = chance.choice(list(ZONES)) if chance.random() < 0.5 else None
        years = [1604, 1900, 1968, 1999, 2019, 2024, 2026]
        self.first = dt.date(chance.choice(years), chance.randint(1, 12), chance.randint(1, 28))
        self.length = chance.choice([1, 1, 1, 2, 3, 9])

    def value(self, name, *days):
        if self.zone:
            return f"{name};TZID={self.zone}:" + ",".join(f"{it:%Y%m%d}T000000" for it in days)
        return f"{name};VALUE=DATE:" + ",".join(f"{it:%Y%m%d}" for it in days)

    def utc(self, day, seconds=0):
        """A midnight, plus the given seconds, in UTC."""
        from zoneinfo import ZoneInfo

        local = dt.datetime.combine(day, dt.time(), ZoneInfo(ZONES[self.zone]))
        moment = local.astimezone(dt.timezone.utc) + dt.timedelta(seconds=seconds)
        return f"{moment:%Y%m%dT%H%M%SZ}"

    def rule(self):
        """A recurrence that includes the first day."""
        chance, first = self.chance, self.first
        week_day = "MO TU WE TH FR SA SU".split()[first.weekday()]
        nth, month = (first.day - 1) // 7 + 1, first.month
        last = "" if first.day + 7 <= 28 or nth < 4 else f"BYDAY=-1{week_day}"
        is_last = (first + 7 * DAY).month != month
        kind = chance.choice("day week weeks month nth set year in_year every_year".split())
        interval = chance.choice([1, 1, 1, 2, 3])
        parts = {
            "day": [f"FREQ=DAILY;INTERVAL={interval + 20}"],
            "week": [f"FREQ=WEEKLY;INTERVAL={interval + 3}"],
            "weeks": [f"FREQ=WEEKLY;INTERVAL={interval + 5};BYDAY={week_day},SU;WKST={chance.choice(['MO', 'SU'])}"],
            "month": [f"FREQ=MONTHLY;INTERVAL={interval};BYMONTHDAY={first.day},-1"],
            "nth": [f"FREQ=MONTHLY;INTERVAL={interval};BYDAY={-1 if is_last else nth}{week_day}"],
            "set": [f"FREQ=MONTHLY;BYDAY={week_day};BYSETPOS={-1 if is_last else nth}"],
            "year": [f"FREQ=YEARLY;INTERVAL={interval}"],
            "in_year": [f"FREQ=YEARLY;BYYEARDAY={first.timetuple().tm_yday},-1"],
            "every_year": [f"FREQ=YEARLY;BYMONTH={month};BYDAY={-1 if is_last else nth}{week_day}"],
        }[kind]
        end = chance.random()
        if end < 0.3:
            until = dt.date(chance.randint(2025, 2030), chance.randint(1, 12), chance.randint(1, 28))
            if self.zone:
                parts.append("UNTIL=" + self.utc(until, chance.choice([0, 86399])))
            else:
                parts.append(f"UNTIL={until:%Y%m%d}")
        elif end < 0.5:
            parts.append(f"COUNT={chance.choice([2, 9, 30, 430, 900])}")
        return ";".join(parts)

    def lines(self):
        chance, first = self.chance, self.first
        uid = f"UID:{self.number}@example.com"
        name = f"SUMMARY;LANGUAGE=en:Tag {self.number}\\, " + "x" * chance.randint(0, 90)
        yield from ["BEGIN:VEVENT", uid, "DTSTAMP:20260101T000000Z", name, self.value("DTSTART", first)]
        end = first + self.length * DAY
        how = chance.random()
        if how < 0.6 or self.zone:
            yield self.value("DTEND", end)
        elif how < 0.8:
            yield f"DURATION:P{self.length}D"
        elif how < 0.9:
            yield f"DTEND:{end - DAY:%Y%m%d}T235959"
        if chance.random() < 0.1:
            yield "STATUS:CANCELLED"
        rule = self.rule() if chance.random() < 0.8 else None
        if rule:
            yield "RRULE:" + rule
        else:
            more = [dt.date(2026, 1, 1) + chance.randint(0, 900) * DAY for _ in range(3)]
            yield self.value("RDATE", *more)
        moved = None
        if rule:
            moved = yield from self.exceptions(rule)
        yield "END:VEVENT"
        if moved:
            to = moved + chance.randint(1, 6) * DAY
            yield from ["BEGIN:VEVENT", uid, "DTSTAMP:20260101T000000Z", name]
            if self.zone:
                yield f"RECURRENCE-ID:{self.utc(moved)}"
            else:
                yield self.value("RECURRENCE-ID", moved)
            if chance.random() < 0.3:
                yield from [f"DTSTART:{to:%Y%m%d}T090000", f"DTEND:{to:%Y%m%d}T100000"]
            else:
                yield from [self.value("DTSTART", to), self.value("DTEND", to + self.length * DAY)]
            if chance.random() < 0.3:
                yield "STATUS:CANCELLED"
            yield "END:VEVENT"

    def exceptions(self, rule):
        """Excludes some recurrences. Returns one that is moved."""
        lines = ["BEGIN:VCALENDAR", "BEGIN:VEVENT", "UID:1", f"DTSTART;VALUE=DATE:{self.first:%Y%m%d}"]
        without_until = ";".join(it for it in rule.split(";") if not it.startswith("UNTIL"))
        lines += ["RRULE:" + without_until, "END:VEVENT", "END:VCALENDAR"]
        all_days = days("\r\n".join(lines).encode())
        if len(all_days) < 4:
            return None
        chosen = self.chance.sample(all_days, 3)
        if self.chance.random() < 0.5:
            if self.zone and self.chance.random() < 0.5:
                yield f"EXDATE:{self.utc(chosen[0])}"
            else:
                yield self.value("EXDATE", *chosen[:2])
        return chosen[2] if self.chance.random() < 0.5 else None


def generate(directory, seed, count):
    for number in range(count):
        chance = random.Random(f"{seed}-{number}")
        lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//judge//EN", *OWN_ZONE.split("\n")]
        for event in range(chance.randint(1, 4)):
            lines += Event(chance, event).lines()
        lines.append("END:VCALENDAR")
        end = chance.choice(["\r\n", "\n"])
        width = chance.choice([20, 60, 200])
        folded = [f"{end} ".join(it[at : at + width] for at in range(0, len(it), width)) for it in lines]
        mark = chance.choice(["", "\ufeff"])
        write(directory / f"{seed}-{number}.ics", (mark + end.join(folded) + end).encode())


def main(arguments):
    warnings.simplefilter("ignore")
    if arguments[0] == "published":
        published(Path(arguments[1]))
    elif arguments[0] == "generate":
        generate(Path(arguments[1]), arguments[2], int(arguments[3]))
    else:
        for path in sorted(Path(arguments[0]).glob("*.ics")):
            write(path, path.read_bytes())


main(sys.argv[1:])
