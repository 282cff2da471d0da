# From each status, the statuses a parcel can change to.
CHANGES = {
    "announced": ("collected", "cancelled"),
    "collected": ("in_transit", "returned"),
    "in_transit": ("at_depot", "at_customs", "lost", "delayed"),
    "at_customs": ("in_transit", "delayed", "returned"),
    "delayed": ("in_transit", "at_depot", "lost"),
    "at_depot": ("out_for_delivery", "in_transit", "returned"),
    "out_for_delivery": ("delivered", "at_depot"),
}
LABELS = {
    "announced": "announced by the sender",
    "at_customs": "being checked by customs",
    "at_depot": "waiting at the depot",
    "delayed": "held up on the way",
    "lost": "being searched for",
    "out_for_delivery": "loaded into the van",
    "returned": "given back to the sender",
}
MAX_ATTEMPTS = 3
MAX_DELAYS = 5


def is_final(status):
    # Nothing happens to the parcel after one of these.
    return False  # TODO: True for 'delivered', 'returned', 'lost'


def next_statuses(status):
    return list(CHANGES.get(status, ()))


def can_change(old_status, new_status):
    if is_final(old_status):
        return False
    return old_status == new_status or new_status in next_statuses(old_status)


def status_label(status):
    # Statuses that speak for themselves have no entry in the table.
    return LABELS.get(status, status.replace("_", " "))


def timeline_labels(statuses):
    # Repeated scans of one status are shown once, with their number.
    labels = []
    position = 0
    while position < len(statuses):
        end = position
        while end < len(statuses) and statuses[end] == statuses[position]:
            end += 1
        label = status_label(statuses[position])
        labels.append(label if end - position == 1 else f"{label} (x{end - position})")
        position = end
    return labels


def needs_return(statuses):
    # After the last attempt the parcel goes back from the depot.
    if not statuses or statuses[-1] != "at_depot":
        return False
    if statuses.count("delayed") > MAX_DELAYS:
        return True
    return statuses.count("out_for_delivery") >= MAX_ATTEMPTS


def shortest_path_statuses(start_status, goal_status):
    # Breadth first: the first path that reaches the goal is the shortest.
    # Used to explain which scans of a parcel are missing.
    if start_status not in CHANGES:
        # Final statuses and unknown ones lead nowhere.
        return [start_status] if start_status == goal_status else []
    paths = [[start_status]]
    seen = {start_status}
    for path in paths:
        if path[-1] == goal_status:
            return path
        for following in next_statuses(path[-1]):
            if following not in seen:
                seen.add(following)
                paths.append(path + [following])
    return []
