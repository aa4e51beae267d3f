"""Says how far two days lie apart, whether they are written as dates or in words."""

from datetime import date, datetime, timedelta, timezone

from date_words import NotUnderstood, add_months, parse_iso, understand

SINGULAR = {"days": "day", "weeks": "week", "months": "month", "business_days": "business day"}


def run(arguments, ctx):
    """Reads both days, and answers with what they were taken for and what lies between them."""
    unit = arguments.get("unit", "days")
    try:
        today = parse_iso(arguments["today"]) if "today" in arguments else datetime.now(timezone.utc).date()
        start, start_understood = understand(arguments["from"], today)
        end, end_understood = understand(arguments["to"], today)
    except NotUnderstood as error:
        ctx.refuse("DATE_NOT_UNDERSTOOD", str(error))
    except OverflowError:
        ctx.refuse("DATE_OUT_OF_RANGE", "Only days of the years 1 to 9999 can be counted.")
    difference, remainder = measure(start, end, unit)
    return {
        "from_date": start.isoformat(),
        "to_date": end.isoformat(),
        "from_understood": start_understood,
        "to_understood": end_understood,
        "unit": unit,
        "difference": difference,
        "remainder_days": remainder,
        "sentence": say(start, end, difference, remainder, unit),
    }


def measure(start, end, unit):
    """Counts from start to end; backwards, everything is negative."""
    if end < start:
        difference, remainder = measure(end, start, unit)
        return -difference, -remainder
    days = (end - start).days
    if unit == "weeks":
        return days // 7, days % 7
    if unit == "months":
        months = whole_months(start, end)
        return months, (end - add_months(start, months)).days
    return (business_days(start, end) if unit == "business_days" else days), 0


def whole_months(start, end):
    """The most months that can be added to start without passing end; in a short month its last day counts."""
    months = (end.year - start.year) * 12 + end.month - start.month
    return months - 1 if add_months(start, months) > end else months


def business_days(start, end):
    """Mondays to Fridays after start, up to and including end: whole weeks at once, the rest one by one."""
    weeks, rest = divmod((end - start).days, 7)
    return weeks * 5 + sum(1 for day in range(1, rest + 1) if (start + timedelta(days=weeks * 7 + day)).weekday() < 5)


def say(start, end, difference, remainder, unit):
    if start == end:
        return f"Both are {name(start)}."
    distance = count(abs(difference), SINGULAR[unit])
    if remainder != 0:
        distance += f" and {count(abs(remainder), 'day')}"
    return f"From {name(start)} to {name(end)} it is {distance}{' back' if end < start else ''}."


def count(number, singular):
    return f"{number} {singular if number == 1 else singular + 's'}"


def name(day):
    return f"{date.strftime(day, '%A')}, {day.isoformat()}"
