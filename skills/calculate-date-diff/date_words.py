"""Reads a day as people write it: a date, or words that count from today."""

import re
from calendar import monthrange
from datetime import date, timedelta

MONTHS = ["january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"]
WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12}
FIXED = {"today": 0, "now": 0, "tomorrow": 1, "yesterday": -1, "day after tomorrow": 2, "day before yesterday": -2}
AMOUNT = r"(\d{1,6}|" + "|".join(NUMBERS) + r") (business day|working day|day|week|fortnight|month|year)s?"
EXAMPLES = "write a date such as 2026-03-01, or words such as today, next friday, in 3 weeks, 2 days ago"


class NotUnderstood(Exception):
    """What was written names no day, or more than one."""


def understand(text, today):
    """The day a text names, and in words what it was taken for."""
    words = re.sub(r"\s+", " ", text.strip().lower()).removeprefix("the ").rstrip(".")
    for read in (read_date, read_fixed, read_weekday, read_amount, read_period, read_edge):
        found = read(words, today)
        if found is not None:
            return found
    raise NotUnderstood(f'"{text.strip()[:80]}" is not a day that is understood; {EXAMPLES}.')


def parse_iso(text):
    """A date written as YYYY-MM-DD."""
    match = re.fullmatch(r"(\d{4})-(\d{1,2})-(\d{1,2})", text.strip(), re.ASCII)
    if match is None:
        raise NotUnderstood(f'"{text.strip()[:80]}" is not a date such as 2026-03-01.')
    return day_of(text, *(int(part) for part in match.groups()))


def day_of(text, year, month, day):
    try:
        return date(year, month, day)
    except ValueError:
        raise NotUnderstood(f'There is no day {text.strip()[:80]}.') from None


def read_date(words, _today):
    written = re.fullmatch(r"(\d{4})[-/](\d{1,2})[-/](\d{1,2})(?:[t ]\d{1,2}:\d{2}\S*)?", words, re.ASCII)
    if written:
        return day_of(words, *(int(part) for part in written.groups())), "a date, without its time of day" if ":" in words else "a date"
    dotted = re.fullmatch(r"(\d{1,2})\.(\d{1,2})\.(\d{4})", words, re.ASCII)
    if dotted:
        return day_of(words, *(int(part) for part in reversed(dotted.groups()))), "a date, the day first and then the month"
    if re.fullmatch(r"\d{1,2}[-/]\d{1,2}[-/]\d{2,4}", words, re.ASCII):
        raise NotUnderstood(f'"{words}" may begin with the day or with the month; write it as YYYY-MM-DD.')
    day_first = re.fullmatch(r"(\d{1,2})(?:st|nd|rd|th)?(?: of)? ([a-z]{3,9})\.?,? (\d{4})", words, re.ASCII)
    month_first = re.fullmatch(r"([a-z]{3,9})\.? (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})", words, re.ASCII)
    if day_first or month_first:
        day, month, year = day_first.groups() if day_first else (month_first[2], month_first[1], month_first[3])
        number = month_number(month)
        return None if number is None else (day_of(words, int(year), number, int(day)), "a date in words")
    return None


def month_number(word):
    return next((index + 1 for index, month in enumerate(MONTHS) if month == word or month[:3] == word or (word == "sept" and index == 8)), None)


def read_fixed(words, today):
    return None if words not in FIXED else (today + timedelta(days=FIXED[words]), f"{words}, where today is {today.isoformat()}" if FIXED[words] else "today")


def read_weekday(words, today):
    match = re.fullmatch(r"(?:(next|last|this|coming|past|on) )?([a-z]+)", words, re.ASCII)
    weekday = next((index for index, day in enumerate(WEEKDAYS) if match and match[2] in (day, day[:3])), None)
    if weekday is None:
        return None
    ahead = (weekday - today.weekday()) % 7
    named = WEEKDAYS[weekday].capitalize()
    if match[1] in ("last", "past"):
        return today - timedelta(days=(today.weekday() - weekday) % 7 or 7), f"the latest {named} before {today.isoformat()}"
    if match[1] in ("next", "coming"):
        return today + timedelta(days=ahead or 7), f"the first {named} after {today.isoformat()}"
    return today + timedelta(days=ahead), f"the first {named} from {today.isoformat()} on, that day included"


def read_amount(words, today):
    later = re.fullmatch(r"in " + AMOUNT, words, re.ASCII) or re.fullmatch(AMOUNT + r" (?:from now|from today|ahead|later)", words, re.ASCII)
    match = later or re.fullmatch(AMOUNT + r" ago", words, re.ASCII)
    if match is None:
        return None
    number = NUMBERS[match[1]] if match[1] in NUMBERS else int(match[1])
    unit = "business day" if match[2] == "working day" else match[2]
    named = f"{number} {unit}{'' if number == 1 else 's'} {'after' if later else 'before'} {today.isoformat()}"
    return move(today, number if later else -number, unit), named


def move(day, number, unit):
    if unit == "business day":
        return add_business_days(day, number)
    if unit in ("month", "year"):
        return add_months(day, number * (12 if unit == "year" else 1))
    return day + timedelta(days=number * {"day": 1, "week": 7, "fortnight": 14}[unit])


def add_months(day, months):
    """The same day of another month, or that month's last one where it is shorter."""
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    if not 1 <= year <= 9999:
        raise OverflowError("beyond the calendar")
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def add_business_days(day, number):
    """Whole weeks at once, since a number may be large, and the rest day by day."""
    step = 1 if number > 0 else -1
    weeks, rest = divmod(abs(number), 5)
    day += timedelta(days=step * weeks * 7)
    while day.weekday() > 4 and number != 0 and rest == 0:
        day -= timedelta(days=step)
    while rest > 0:
        day += timedelta(days=step)
        rest -= day.weekday() < 5
    return day


def read_period(words, today):
    match = re.fullmatch(r"(next|last) (week|month|year)", words, re.ASCII)
    if match is None:
        return None
    return move(today, 1 if match[1] == "next" else -1, match[2]), f"one {match[2]} {'after' if match[1] == 'next' else 'before'} {today.isoformat()}"


def read_edge(words, today):
    match = re.fullmatch(r"(start|beginning|end) of (?:the |this )?(month|year)", words, re.ASCII)
    if match is None:
        return None
    is_end = match[1] == "end"
    if match[2] == "year":
        return date(today.year, 12 if is_end else 1, 31 if is_end else 1), f"the {'last' if is_end else 'first'} day of {today.year}"
    day = monthrange(today.year, today.month)[1] if is_end else 1
    return date(today.year, today.month, day), f"the {'last' if is_end else 'first'} day of {MONTHS[today.month - 1].capitalize()} {today.year}"
