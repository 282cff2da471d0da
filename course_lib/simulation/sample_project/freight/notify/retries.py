# Waiting time before each new attempt to deliver a message.
FIRST_WAIT_MINUTES = 5
LONGEST_WAIT_MINUTES = 240
MAX_ATTEMPTS = {"email": 6, "sms": 4, "letter": 1}
# Answers of the gateway after which another attempt makes no sense.
PERMANENT_ERRORS = ("unknown address", "blocked", "bad number")


def wait_minutes(attempt_count, growth_ratio=3.0):
    if attempt_count < 1:
        return 0
    wait = FIRST_WAIT_MINUTES * growth_ratio ** (attempt_count - 1)
    return min(LONGEST_WAIT_MINUTES, int(wait))


def attempt_minutes(attempt_count):
    # Time from the first attempt to the one after attempt_count failures.
    return sum(wait_minutes(number) for number in range(1, attempt_count + 1))


def can_retry(channel_key, attempt_count, error_text):
    if error_text.strip().lower() in PERMANENT_ERRORS:
        return False
    return attempt_count < MAX_ATTEMPTS.get(channel_key, 1)


def pause_text(answer_text):
    # Gateways answer "120" or "120 s" when they want to be left alone.
    digits = answer_text.strip().rstrip("s").strip()
    if not digits.isdigit():
        raise ValueError(f"not a waiting time: {answer_text}")
    minutes, seconds = divmod(int(digits), 60)
    return f"{minutes} min {seconds:02d} s"


def retry_channel_key(channel_key, attempt_count, error_text):
    # Falls back to the next dearer channel, in the end to a letter.
    if can_retry(channel_key, attempt_count, error_text):
        return channel_key
    if channel_key not in MAX_ATTEMPTS:
        raise ValueError(f"unknown channel: {channel_key}")
    channels = list(MAX_ATTEMPTS)
    following = channels.index(channel_key) + 1
    return channels[min(following, len(channels) - 1)]


def schedule_lines(channel_key):
    lines = []
    for number in range(MAX_ATTEMPTS[channel_key]):
        hours, minutes = divmod(attempt_minutes(number), 60)
        lines.append(f"attempt {number + 1}: after {hours}:{minutes:02d} h")
    return lines


def failure_count_by_error(error_texts):
    # For the weekly list: which parcels' messages failed and why.
    counts = {}
    for error_text in error_texts:
        key = error_text.strip().lower() or "no answer"
        counts[key] = counts.get(key, 0) + 1
    # The most frequent error comes first.
    ranking = sorted(counts, key=lambda key: (-counts[key], key))
    return {key: counts[key] for key in ranking}
