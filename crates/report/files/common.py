# A system that cannot be used neither shows a failure nor is free of it.
class Undecided(Exception):
    pass


# What a system sends may command a terminal.
def shown(text):
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text)


# A float would round numbers, and Python takes `true` for 1. What is left out is unset.
def number(text):
    try:
        return decimal.Decimal(text)
    except decimal.InvalidOperation:
        return text


def exact(text):
    return json.loads(text, parse_int=number, parse_float=number)


def same(left, right):
    if isinstance(left, dict) and isinstance(right, dict):
        return all(same(left.get(name), right.get(name)) for name in {**left, **right})
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return type(left) is type(right) and left == right


# The items of a set come in any order. Which lists are sets is not known here.
def ordered(value):
    if isinstance(value, dict):
        return {name: ordered(part) for name, part in value.items() if part is not None}
    if isinstance(value, list):
        return sorted(map(ordered, value), key=repr)
    return value


def is_other_order(left, right):
    return not same(left, right) and same(ordered(left), ordered(right))


