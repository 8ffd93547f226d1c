# SPDX-License-Identifier: BSD-2-Clause
"""The reader's side of the oracle (see oracle.h), and its judgement."""
import collections
import mmap
import os
import struct

MAGIC = 0x71756f726c6f636b
SLOTS = 64
LOCKS = 32
CAPACITY = 1 << 20
HEADER = struct.Struct("=QQQIi")
SLOT = struct.Struct("=QiI")
ENTRY = struct.Struct("=IHHiiQQQQQ")
SLOTS_AT = HEADER.size + 8 * LOCKS
ENTRIES_AT = SLOTS_AT + SLOT.size * SLOTS
EMPTY, ENTER, VALID, LEAVE, STALE, RESULT, RELEASE = range(7)

Entry = collections.namedtuple(
    "Entry", "kind slot lock pid detail at_ns valid_until_ns company "
    "last_tick_ns fence")
Slot = collections.namedtuple("Slot", "tick_ns pid entered")


class Section:
    """One critical section as it truly was."""

    def __init__(self, entry):
        self.slot = entry.slot
        self.lock = entry.lock
        self.pid = entry.pid
        self.enter_ns = entry.at_ns
        self.valid_until_ns = entry.valid_until_ns
        self.company = entry.company
        self.fence = entry.fence
        self.leave_ns = None  # still inside
        self.left = False     # of its own will


class Oracle:
    def __init__(self, path):
        self.path = path
        with open(path, "w+b") as file:
            file.truncate(ENTRIES_AT + CAPACITY * ENTRY.size)
            self.memory = mmap.mmap(file.fileno(), 0)
        HEADER.pack_into(self.memory, 0, MAGIC, CAPACITY, 0, 0, os.getpid())

    def stop(self):
        struct.pack_into("=I", self.memory, 24, 1)

    def go(self):
        struct.pack_into("=I", self.memory, 24, 0)

    def slot(self, index):
        return Slot(*SLOT.unpack_from(self.memory,
                                      SLOTS_AT + SLOT.size * index))

    def inside(self, lock):
        """The slots that say they are inside."""
        bits, = struct.unpack_from("=Q", self.memory, HEADER.size + 8 * lock)
        return [slot for slot in range(SLOTS) if bits >> slot & 1]

    def entries(self, first=0):
        """In the order of the log, which among processes is not that of time.
        One whose writer was killed over it is missing."""
        count = min(HEADER.unpack_from(self.memory)[2], CAPACITY)
        for index in range(first, count):
            entry = Entry(*ENTRY.unpack_from(
                self.memory, ENTRIES_AT + ENTRY.size * index))
            if entry.kind != EMPTY:
                yield entry

    def sections(self):
        """All of them, by the time of entry."""
        done, inside = [], {}
        for entry in self.entries():
            section = inside.get(entry.slot)
            if entry.kind == ENTER:
                if section:  # it was killed: its last sign of life counts
                    section.leave_ns = entry.last_tick_ns
                inside[entry.slot] = Section(entry)
                done.append(inside[entry.slot])
            elif section and section.pid == entry.pid:
                if entry.kind == VALID:
                    section.valid_until_ns = entry.valid_until_ns
                elif entry.kind == LEAVE:
                    section.leave_ns = entry.at_ns
                    section.left = True
                    del inside[entry.slot]
        for slot, section in inside.items():
            section.leave_ns = self.slot(slot).tick_ns
        for section in done:
            section.leave_ns = max(section.leave_ns, section.enter_ns)
        return sorted(done, key=lambda section: section.enter_ns)

    def stale_fences(self):
        """(lock, fencing token) of those who got one too late to enter."""
        return [(entry.lock, entry.fence) for entry in self.entries()
                if entry.kind == STALE]

    def count(self, kind):
        return collections.Counter(entry.detail for entry in self.entries()
                                   if entry.kind == kind)


class Judge:
    """Decides about overlaps.

    A user of the library answers for what it does within its validity, so its
    section is cut off where that ended; if it was killed inside, nobody else
    may come before. The child of a `quorlock run` answers until its end,
    unless its parent was stopped: `excuses` are {slot: [(from_ns, to_ns)]}.
    """

    def __init__(self, sections, commands, excuses):
        self.commands = commands  # the slots of `quorlock run`
        self.excuses = excuses
        self.real = []    # (at_ns, section, section): mutual exclusion failed
        self.paused = []  # a holder that was stopped went on afterwards
        self.late_ns = 0  # how long after its validity a user went on
        by_lock = collections.defaultdict(list)
        for section in sections:
            by_lock[section.lock].append(section)
            if section.slot not in commands:
                self.late_ns = max(self.late_ns, section.leave_ns
                                   - section.valid_until_ns)
        for own in by_lock.values():
            self._sweep(own)

    def _sweep(self, sections):
        open_ones = []
        for section in sections:
            at_ns = section.enter_ns
            open_ones = [one for one in open_ones
                         if max(one.leave_ns, self._end(one)) > at_ns]
            for one in open_ones:
                self._compare(one, section)
            open_ones.append(section)

    def _end(self, section):
        if section.slot in self.commands:
            return section.leave_ns
        if section.left:
            return min(section.leave_ns, section.valid_until_ns)
        return section.valid_until_ns

    def _compare(self, first, second):
        begin = second.enter_ns
        end = min(self._end(first), self._end(second))
        for slot in (first.slot, second.slot):
            for from_ns, to_ns in self.excuses.get(slot, ()):
                if from_ns <= begin < to_ns:
                    begin = to_ns
        if begin < end:
            self.real.append((begin, first, second))
        elif first.leave_ns > second.enter_ns:
            self.paused.append((second.enter_ns, first, second))

    def seen(self):
        """Overlaps that the two saw themselves, without looking at a clock."""
        return sum(first.company >> second.slot & 1
                   or second.company >> first.slot & 1
                   for _, first, second in self.real + self.paused)


class Tokens:
    """Decides about fencing tokens: each comes once, and by the time of entry
    they grow. `stale` are those of holders that never entered."""

    def __init__(self, sections, stale):
        self.missing = []   # sections
        self.equal = []     # (section, section), or (section, lock) if stale
        self.backward = []  # (section, section)
        self.count = 0
        holder, last = {}, {}
        for section in sections:
            key = section.lock, section.fence
            self.count += 1
            if not section.fence:
                self.missing.append(section)
                continue
            if key in holder:
                self.equal.append((holder[key], section))
            before = last.get(section.lock)
            if before and before.fence > section.fence:
                self.backward.append((before, section))
            holder[key] = last[section.lock] = section
        seen = set()
        for lock, fence in stale:
            self.count += 1
            if (lock, fence) in holder or (lock, fence) in seen:
                self.equal.append((holder.get((lock, fence)), None))
            seen.add((lock, fence))

    def problems(self):
        found = []
        for what, pairs in (("the same token twice", self.equal),
                            ("a smaller token after a larger one",
                             self.backward)):
            found += [f"{what}: {told(first)}, then {told(second)}"
                      for first, second in pairs[:3]]
        if self.missing:
            found.append(f"{len(self.missing)} sections without a token")
        return found


def told(section):
    if section is None:
        return "one that was granted too late"
    return (f"lock {section.lock}, slot {section.slot}, pid {section.pid}, "
            f"token {section.fence}, entered at {section.enter_ns / 1e9:.3f}")


def gaps_ns(sections):
    """From each holder's leaving to the next one's coming, lock by lock."""
    last, gaps = {}, []
    for section in sections:
        if section.lock in last:
            gaps.append(max(0, section.enter_ns - last[section.lock]))
        last[section.lock] = max(section.leave_ns, last.get(section.lock, 0))
    return sorted(gaps)
