"""The lines of an output by their shape, counted in one reading. Sent to a host when the client first asks for it.

A module beside agent.py, under the same rules. It masks and counts, and no more: which shapes tell something is decided
by the client. An output may have gigabytes and all-different lines; memory and answer stay small.

What most lines need is done for a block of them at once, by methods of bytes and dict: a line of Python for each line
would be too slow. A line is looked for three times, each time made coarser:

    as it stands, without its digits    which is enough for most logs
    its words                           what is in the vocabulary stays, any other word is "?"
    its words again                     a line of no known shape puts its words into the vocabulary, if there is room

When there are too many shapes, the kind of which there are most one-off ones becomes one shape: their words that
hardly any other shape has are taken out of the vocabulary, and are "?" from then on. So what is different in every line
ends up in a few groups, and a line that is unlike all others keeps a group to itself, however many there are.
"""

from _collections import _count_elements as count_elements  # what collections.Counter is made of
from zlib import compress

from agent import Refused

BLOCK = 256 << 10  # bytes that are read at once
LONG = 64 << 10  # a line that is not over by then is not kept whole
KEY_HEAD = 700  # of a long line, what its shape is made of: so many bytes of its beginning
KEY_TAIL = 300  # and of its end
GROUPS_MAX = 2000  # that are kept between two blocks
CACHE_MAX = 6 << 20  # bytes for lines whose group is remembered
KNOWN_MAX = 6 << 20  # bytes for shapes that are remembered to belong to a group
ENTRY = 120  # bytes that an entry of a dict takes beside the text
WORDS_MAX = 30000  # of the vocabulary
WORD_MAX = 80  # bytes of a word in it
ALERTS_MAX = 500  # words with a hint in them that are looked for ahead
AHEAD = b"error fail fatal panic except corrupt critical denied refused timeout killed".split()
HINTS = AHEAD + b"abort emerg warn unable cannot lost segfault oom-kill dead".split()
HEX = b"abcdefxABCDEFX-"  # what is left of a hexadecimal number; of words these are not:
PLAIN = frozenset(b"a A be bad Bad BAD dead Dead DEAD added Feb Dec".split())
# Words of so few shapes are "?" in groups of so few lines, where so many groups become one; by their first words alone.
STEPS = ((1, 2, 3, 0), (4, 8, 3, 0), (16, 64, 2, 0), (64, 1 << 62, 2, 0), (64, 1 << 62, 3, 3), (64, 1 << 62, 3, 1))
SEPARATORS = b"\"'`,;:=|()[]{}<>\x7f"
BREAK = b" \x01 "  # between two lines; no line has it once it is translated


def is_alert(text):
    """Whether a hint is in it."""
    lowered = text.lower()
    return any([hint in lowered for hint in HINTS])


def hinted(joined, most):
    """The words with one of the commonest hints in them, in words that are joined by spaces: `most` for each hint."""
    found, lowered = set(), joined.lower()
    for hint in AHEAD:
        at = lowered.find(hint)
        met = 0
        while at >= 0 and met < most:
            met += 1
            start = lowered.rfind(b" ", 0, at) + 1
            end = lowered.find(b" ", at)
            if end < 0:
                end = len(joined)
            found.add(joined[start:end])
            at = lowered.find(hint, end)
    return found


def shape_of(words):
    return b" ".join([b""] + words + [b""])


def squeeze(words):
    """A shape in which unknown words in a row are one."""
    out = [b""]
    for word in words:
        if word != b"?" or out[-1] != b"?":
            out.append(word)
    return b" ".join(out + [b""])


class Group(object):
    """Lines of one shape: numbers of the first and the last one, how many, and the first one itself."""

    __slots__ = ("shape", "first", "last", "count", "head", "tail", "cut", "alert")

    def __init__(self, shape, number):
        self.shape = shape
        self.first = number
        self.last = self.count = 0
        self.head = self.tail = b""
        self.cut = 0
        self.alert = False  # whether a hint is in its line

    def take(self, line, hidden, size):
        """Keep `size` bytes of a line, of a longer one its two ends; `hidden` bytes of it are not there."""
        if len(line) + hidden <= size:
            self.head = line
            return
        end = size // 3
        self.head = line[: size - end]
        self.tail = line[max(size - end, len(line) - end) :]
        self.cut = len(line) + hidden - len(self.head) - len(self.tail)

    def swallow(self, other):
        """The other one's lines are of this shape as well."""
        self.count += other.count
        self.last = max(self.last, other.last)
        self.alert = self.alert or other.alert
        if other.first < self.first:
            self.first, self.head, self.tail, self.cut = other.first, other.head, other.tail, other.cut


def begin(agent):
    """Begin to answer the next one that waits, if none is being answered: one table is in memory at a time."""
    if agent.parked and not [job for job in agent.jobs if job[1].__name__ == "grouped"]:
        ident, query, run = agent.parked.pop(0)
        capture = run.captures[query["stream"]]

        def grouped(answer, error):
            capture.rest()
            if answer is None:
                agent.say({"t": "error", "id": ident, "kind": error.kind, "message": str(error)})
            else:
                words, data = answer
                agent.say(dict({"t": "slice", "id": ident, "total": capture.lines}, **words), data)
            begin(agent)

        agent.jobs.append((scan(agent, capture, query), grouped, run))


def scan(agent, capture, query):
    """Group the lines of a capture. Yields None between blocks; a cancel ends it."""
    table = Table(min(query["line_bytes"], query["max_bytes"]))
    for block, hidden in blocks(capture):
        if agent.canceling:
            raise Refused("cancelled", "all was cancelled before the output was read")
        if block is not None:
            table.add(block, hidden)
            if len(table.groups) > GROUPS_MAX:
                table.condense()
        yield None
    yield (answer_of(table, query["max_lines"], query["max_bytes"]),)


def answer_of(table, most, size):
    """What an answer says, and its payload: the groups that are sent, in the order of their first lines."""
    lines, data = [], b""
    chosen, shapes, more = choose(table, most, size), table.lost_shapes, table.lost_lines
    for group in sorted(table.groups.values(), key=lambda group: group.first):
        if group.first in chosen:
            lines.append([group.first, len(group.head), group.cut, len(group.tail), group.count, group.last])
            data += group.head + group.tail
        else:
            shapes += 1
            more += group.count
    words = {"more": more, "shapes": shapes, "lines": lines}
    packed = compress(data, 9)
    if len(packed) < len(data):
        words["unpacked"] = len(data)
        data = packed
    words["payload"] = len(data)
    return words, data


def blocks(capture):
    """(whole lines, bytes that the first one lacks) for each block; (None, 0) where a line goes on beyond it."""
    at, rest, hidden = 0, b"", 0
    while True:
        data = capture.read(at, BLOCK)
        if not data:
            break
        at += len(data)
        end = data.rfind(b"\n")
        if end < 0:
            rest += data
            yield None, 0
        else:
            yield rest + data[:end], hidden
            rest, hidden = data[end + 1 :], 0
        if len(rest) > LONG:  # what is kept is enough for its shape and for what is shown of it
            hidden += len(rest) - LONG // 2
            rest = rest[: LONG // 4] + rest[-(LONG // 4) :]
    if rest:
        yield rest, hidden


def translation():
    """Control characters but newlines, and what stands between words, become spaces."""
    table = bytearray(range(256))
    for code in bytes(range(10)) + bytes(range(11, 32)) + SEPARATORS:
        table[code] = 32
    return bytes(table)


def spread(groups):
    """The groups so that each beginning of the list has something of all of it."""
    step = 1 << len(groups).bit_length()
    places = {}  # in the order in which they were met first
    while step >= 1:
        places.update(dict.fromkeys(range(0, len(groups), step)))
        step //= 2
    return [groups[at] for at in places]


def choose(table, most, size):
    """The first lines of the groups that find room in an answer: in turns those with a hint in them (common ones, rare
    ones, all over the output), the most frequent, those of the rarest words, the newest and the oldest."""
    groups = sorted(table.groups.values(), key=lambda group: group.first)
    many = sorted(groups, key=lambda group: -group.count)
    alerts = [group for group in many if group.alert]
    rare = sorted(groups, key=table.commonness())
    rows = [alerts, many, alerts[::-1], rare, many, spread(alerts), rare, groups[::-1], many, groups]
    turns = [iter(row) for row in rows]
    chosen = set()
    while turns and len(chosen) < most:
        for row in list(turns):
            group = next((one for one in row if one.first not in chosen), None)
            if group is None:
                turns.remove(row)
            elif len(group.head) + len(group.tail) <= size and len(chosen) < most:
                size -= len(group.head) + len(group.tail)
                chosen.add(group.first)
    return chosen


class Table(object):
    """The groups that were found so far."""

    def __init__(self, size):
        self.size = size  # bytes that are kept of a line
        self.number = 0  # of the last line
        self.translation = translation()
        self.groups = {}  # shape -> group
        self.known = {}  # the same, and shapes that were found to belong to one
        self.cache = {}  # line without digits -> group
        self.cached = 0  # bytes of these
        self.heard = 0  # bytes of these
        self.words = {b"\x01": b"\x01"}  # the vocabulary: word -> word
        self.kinds = {}  # of the groups those that several were made one of
        self.strong = set()  # the words of their shapes
        self.cut = False  # whether there are kinds of first words alone
        self.alerts = set()  # words with a hint in them
        self.lost_lines = self.lost_shapes = 0

    def add(self, block, hidden):
        """The next lines; the first one lacks `hidden` bytes in its middle."""
        text = block
        if b"HTTP/" in text:  # in a log of requests the class of an answer is all that tells them apart
            text = text.replace(b'" 5', b'" server-error ').replace(b'" 4', b'" client-error ')
        keys = text.translate(self.translation, b"0123456789").split(b"\n")
        first, self.number = self.number + 1, self.number + len(keys)
        numbers = range(first, first + len(keys))
        last = dict(zip(keys, numbers))
        if max(map(len, last)) > KEY_HEAD + KEY_TAIL:
            limit = KEY_HEAD + KEY_TAIL
            keys = [k if len(k) <= limit else k[:KEY_HEAD] + b" " + k[-KEY_TAIL:] for k in keys]
            last = dict(zip(keys, numbers))
        counts = {}
        count_elements(counts, keys)
        cache = self.cache
        fresh = [key for key in last if key not in cache]
        if fresh:
            size = sum(map(len, fresh)) + ENTRY * len(fresh)
            if self.cached + size > CACHE_MAX:
                fresh = list(last)
                cache.clear()
                self.cached = 0
            self.cached += size
            firsts = dict(zip(reversed(keys), reversed(numbers)))
            self.place(fresh, firsts, block.split(b"\n"), first, hidden)
        for key, number in last.items():
            group = cache[key]
            group.count += counts[key]
            if number > group.last:
                group.last = number

    def place(self, fresh, firsts, lines, start, hidden):
        """Find the groups of lines that were not met before, in their order."""
        joined = BREAK.join(fresh)
        self.watch(joined)
        tokens = (BREAK + joined + BREAK).split()
        shapes = b" ".join(map(self.words.get, tokens, [b"?"] * len(tokens))).split(b"\x01")
        cache, known = self.cache, self.known
        for key, shape in zip(fresh, shapes[1:]):
            group = known.get(shape)
            if group is None:
                number = firsts[key]
                group = self.meet(key, shape, number, lines[number - start], hidden if number == start else 0)
            cache[key] = group

    def watch(self, joined):
        """Take words with a hint in them into the vocabulary before any line is looked for."""
        for word in hinted(joined, 50):
            # Where many are made up, there is still room for a plain one.
            if len(word) <= WORD_MAX and len(self.alerts) < (ALERTS_MAX if len(word) > 9 else 4 * ALERTS_MAX):
                self.words[word] = word
                self.alerts.add(word)

    def meet(self, key, shape, number, line, hidden):
        """The group of a line whose shape is not known."""
        words = key.split()
        loose = [word if word in self.strong or word in self.alerts else b"?" for word in words]
        group = self.kinds.get(shape_of(loose)) or self.kinds.get(squeeze(loose))
        for first in (3, 1) if group is None and self.cut else ():
            group = group or self.kinds.get(squeeze(loose[:first] + [b"?"]))
        if group is None:
            if len(self.groups) >= 2 * GROUPS_MAX:
                shape = squeeze([word if is_alert(word) else b"?" for word in words])
            else:
                shape = shape_of([self.learn(word) for word in words])
            group = self.groups.get(shape)
        if group is None:
            group = self.groups[shape] = Group(shape, number)
            group.take(line, hidden, self.size)
            group.alert = is_alert(key)
        self.heard += len(shape) + ENTRY
        if self.heard > KNOWN_MAX:
            self.remember()
        self.known[shape] = group
        return group

    def learn(self, word):
        """The word, which is in the vocabulary from now on if there is room, and if it is one."""
        if word not in self.words:
            if len(word) > WORD_MAX or len(self.words) >= WORDS_MAX or not word.strip(HEX) and word not in PLAIN:
                return b"?"
            self.words[word] = word
        return word

    def remember(self):
        """Forget of the shapes what is not needed."""
        self.known = dict(self.groups)
        self.heard = sum(map(len, self.known)) + ENTRY * len(self.known)

    def frequencies(self):
        """In how many shapes each word is."""
        found = {}
        for shape in self.groups:
            for word in set(shape.split()):
                found[word] = found.get(word, 0) + 1
        return found

    def commonness(self):
        """A sort key: groups of few lines first, and of these the ones whose words others hardly have."""
        shapes = self.frequencies()

        def common(group):
            words = group.shape.split() or [b"?"]
            return group.count > 5, sum([shapes.get(word, len(self.groups)) for word in words]) / len(words)

        return common

    def condense(self):
        """Make fewer groups: of what there is most first, and words that hardly any other shape has first."""
        self.merge(1, 2, 8, 0, 0)
        for rare, count, least, first in STEPS:
            if len(self.groups) > GROUPS_MAX // 2:
                self.merge(rare, count, least, first, GROUPS_MAX // 2)
                self.cut = self.cut or first > 0
        for group in sorted(self.groups.values(), key=lambda group: (group.alert, group.count))[:-GROUPS_MAX]:
            self.lost_lines += self.groups.pop(group.shape).count
            self.lost_shapes += 1
        self.kinds = {shape: self.groups[shape] for shape in self.kinds if shape in self.groups}
        self.words, self.strong = {b"\x01": b"\x01"}, set()
        for shape, group in self.groups.items():
            words = [word for word in shape.split() if word != b"?"]
            if group.count > 2 or shape in self.kinds:  # a line that is met once needs no vocabulary
                self.words.update(zip(words, words))
            if shape in self.kinds:
                self.strong.update(words)
        self.alerts = hinted(b" ".join(self.words), 1 << 30)
        self.cache.clear()
        self.cached = 0
        self.remember()

    def merge(self, rare, count, least, first, enough):
        """Put groups of at most `count` lines together that are the same but for words of at most `rare` shapes, where
        there are at least so many of them, until few enough are left. `first`: of how many words, 0 for all."""
        shapes, kinds = self.frequencies(), {}
        kept = {word for word in shapes if shapes[word] > rare}.union(hinted(b" ".join(shapes), 1 << 30))
        for shape, group in self.groups.items():
            if group.count <= count:
                words = [word if word in kept else b"?" for word in shape.split()]
                if first:
                    words = words[:first] + [b"?"]
                kind = shape_of(words) if rare == 1 else squeeze(words)
                kinds.setdefault(kind, []).append(group)
        for kind, members in sorted(kinds.items(), key=lambda item: -len(item[1])):
            if len(members) < least or len(self.groups) <= enough:
                break
            group = self.groups.get(kind)
            for member in members:
                if member is not group:
                    del self.groups[member.shape]
                    if group is None:
                        group = member
                    else:
                        group.swallow(member)
            group.shape = kind
            self.groups[kind] = self.kinds[kind] = group
