# %% right: begun, as the history tells
from course_lib.errors import ContextOverflowError
from course_lib.messages import ToolResultBlock, message_text, tool_uses, user


def serve(model, tools, history, order, shorten):
    messages = [*history, user(order)]
    is_open = True
    while True:
        try:
            answer = model.complete(tuple(messages)).message
        except ContextOverflowError:
            shorter = list(shorten(tuple(messages)))
            if shorter == messages:
                raise
            if is_open and order not in [message_text(message) for message in shorter]:
                shorter.append(user(order))
            messages = shorter
        else:
            is_open = False
            messages.append(answer)
            calls = tool_uses(answer)
            if not calls:
                return tuple(messages)
            messages.append(user(*[ToolResultBlock(call.id, tools[call.name](call.input)) for call in calls]))


# %% wrong: and it was added once more
from course_lib.errors import ContextOverflowError
from course_lib.messages import ToolResultBlock, tool_uses, user


def serve(model, tools, history, order, shorten):
    messages, begun = (*history, user(order)), False
    while True:
        try:
            answer = model.complete(messages).message
        except ContextOverflowError:
            shorter = tuple(shorten(messages))
            if shorter == messages:
                raise
            messages = shorter if begun else (*shorter, user(order))
            continue
        begun = True
        messages = (*messages, answer)
        if not tool_uses(answer):
            return messages
        results = [ToolResultBlock(call.id, tools[call.name](call.input)) for call in tool_uses(answer)]
        messages = (*messages, user(*results))


# %% wrong: vanished behind the summary
from course_lib.errors import ContextOverflowError
from course_lib.messages import ToolResultBlock, tool_uses, user


def serve(model, tools, history, order, shorten):
    messages = (*history, user(order))
    while True:
        try:
            answer = model.complete(messages).message
        except ContextOverflowError:
            shorter = tuple(shorten(messages))
            if shorter == messages:
                raise
            messages = shorter
            continue
        messages = (*messages, answer)
        if not tool_uses(answer):
            return messages
        results = [ToolResultBlock(call.id, tools[call.name](call.input)) for call in tool_uses(answer)]
        messages = (*messages, user(*results))


# %% wrong: its tool has run. Saying it again
from course_lib.errors import ContextOverflowError
from course_lib.messages import ToolResultBlock, tool_uses, user


def serve(model, tools, history, order, shorten):
    messages = (*history, user(order))
    for _ in range(6):
        try:
            answer = model.complete(messages).message
        except ContextOverflowError:
            shorter = tuple(shorten(messages))
            if shorter == messages:
                raise
            messages = shorter if user(order) in shorter else (*shorter, user(order))
            continue
        messages = (*messages, answer)
        if not tool_uses(answer):
            return messages
        results = [ToolResultBlock(call.id, tools[call.name](call.input)) for call in tool_uses(answer)]
        messages = (*messages, user(*results))
    return messages


# %% wrong: the same request was sent for ever
from course_lib.errors import ContextOverflowError
from course_lib.messages import ToolResultBlock, tool_uses, user


def serve(model, tools, history, order, shorten):
    messages, begun = (*history, user(order)), False
    while True:
        try:
            answer = model.complete(messages).message
        except ContextOverflowError:
            messages = tuple(shorten(messages))
            if not begun and user(order) not in messages:
                messages = (*messages, user(order))
            continue
        begun = True
        messages = (*messages, answer)
        if not tool_uses(answer):
            return messages
        results = [ToolResultBlock(call.id, tools[call.name](call.input)) for call in tool_uses(answer)]
        messages = (*messages, user(*results))


# %% wrong: asked for ever: the order is said again
from course_lib.errors import ContextOverflowError
from course_lib.messages import ToolResultBlock, tool_uses, user


def serve(model, tools, history, order, shorten):
    messages = (*history, user(order))
    while True:
        try:
            answer = model.complete(messages).message
        except ContextOverflowError:
            shorter = shorten(messages)
            if shorter == messages:
                raise
            messages = (*shorter, user(order))
            continue
        messages = (*messages, answer)
        if not tool_uses(answer):
            return messages
        results = [ToolResultBlock(call.id, tools[call.name](call.input)) for call in tool_uses(answer)]
        messages = (*messages, user(*results))
