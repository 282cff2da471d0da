# toolchest 2.4.1, checkdigit
MOD11_WEIGHTS = (2, 3, 4, 5, 6, 7)


def luhn_digit(digits):
    total = 0
    for position, mark in enumerate(reversed(digits)):
        value = int(mark)
        if position % 2 == 0:
            value *= 2
            if value > 9:
                value -= 9
        total += value
    return str((10 - total % 10) % 10)


def append_luhn(digits):
    return digits + luhn_digit(digits)


def is_luhn(digits):
    return len(digits) > 1 and digits.isdigit() and append_luhn(digits[:-1]) == digits


def mod11_digit(digits):
    total = 0
    for position, mark in enumerate(reversed(digits)):
        total += int(mark) * MOD11_WEIGHTS[position % len(MOD11_WEIGHTS)]
    rest = 11 - total % 11
    if rest == 10:
        return "0"
    if rest == 11:
        return "5"
    return str(rest)


def append_mod11(digits):
    return digits + mod11_digit(digits)


def is_mod11(digits):
    return len(digits) > 1 and digits.isdigit() and append_mod11(digits[:-1]) == digits


def letters_to_digits(text):
    return "".join(str(int(mark, 36)) for mark in text.upper())


def mod97_digits(text):
    rest = int(letters_to_digits(text) + "00") % 97
    return str(98 - rest).zfill(2)


def is_mod97(text):
    return text.isalnum() and int(letters_to_digits(text)) % 97 == 1
