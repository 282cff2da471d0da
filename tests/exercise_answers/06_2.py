# %% right: with a helper, and the new size counted once
class Talk:
    def __init__(self, count):
        self.count = count
        self.messages = ()

    def size(self, messages):
        return sum(self.count(message) for message in messages)

    @property
    def tokens(self):
        return self.size(self.messages)

    def add(self, message):
        self.messages += (message,)

    def compact(self, edit):
        after = edit(self.messages)
        freed = max(0, self.tokens - self.size(after))
        self.messages = after if freed else self.messages
        return freed

    def is_full(self, limit):
        return self.tokens >= limit


# %% wrong: returns nothing
class Talk:
    def __init__(self, count):
        self.count, self.messages, self.tokens = count, (), 0

    def add(self, message):
        self.messages = (*self.messages, message)
        self.tokens += self.count(message)

    def compact(self, edit):
        self.messages = edit(self.messages)

    def is_full(self, limit):
        return self.tokens >= limit


# %% wrong: still counts what is gone
class Talk:
    def __init__(self, count):
        self.count, self.messages, self.tokens = count, (), 0

    def add(self, message):
        self.messages = (*self.messages, message)
        self.tokens += self.count(message)

    def compact(self, edit):
        shorter = edit(self.messages)
        freed = self.tokens - sum(map(self.count, shorter))
        if freed <= 0:
            return 0
        self.messages = shorter
        return freed

    def is_full(self, limit):
        return self.tokens >= limit


# %% wrong: did not notice
class Talk:
    def __init__(self, count):
        self.count, self.messages, self.tokens = count, (), 0

    def add(self, message):
        self.messages = (*self.messages, message)
        self.tokens += self.count(message)

    def compact(self, edit):
        shorter = edit(self.messages)
        freed = self.tokens - sum(map(self.count, shorter))
        if freed <= 0:
            return 0
        self.messages, self.tokens = shorter, self.tokens - freed
        return freed

    def is_full(self, limit):
        return self.tokens >= limit


# %% wrong: keep it as it was, and say 0
class Talk:
    def __init__(self, count):
        self.count, self.messages = count, ()

    @property
    def tokens(self):
        return sum(map(self.count, self.messages))

    def add(self, message):
        self.messages = (*self.messages, message)

    def compact(self, edit):
        before = self.tokens
        self.messages = edit(self.messages)
        return before - self.tokens

    def is_full(self, limit):
        return self.tokens >= limit


# %% wrong: the longer one was kept
class Talk:
    def __init__(self, count):
        self.count, self.messages = count, ()

    @property
    def tokens(self):
        return sum(map(self.count, self.messages))

    def add(self, message):
        self.messages = (*self.messages, message)

    def compact(self, edit):
        before = self.tokens
        self.messages = edit(self.messages)
        return max(0, before - self.tokens)

    def is_full(self, limit):
        return self.tokens >= limit


# %% wrong: is a method now
class Talk:
    def __init__(self, count):
        self.count, self.messages = count, ()

    def tokens(self):
        return sum(map(self.count, self.messages))

    def add(self, message):
        self.messages = (*self.messages, message)

    def compact(self, edit):
        before, self.messages = self.tokens(), edit(self.messages)
        return before - self.tokens()

    def is_full(self, limit):
        return self.tokens() >= limit
