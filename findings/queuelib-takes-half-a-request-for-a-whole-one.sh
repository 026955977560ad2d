#!/usr/bin/env bash
# After a short write, a FIFO queue on disk reports success and hands back half of the item.
#
# Version: queuelib 1.10.0 (PyPI), Scrapy's queues of a JOBDIR.
# Source: POSIX write(): a file that reaches its limit, or a full disk, takes a part and returns its length.
# Expected: push() raises where it could not write an item, and those before it stay readable.
# Behaviour: FifoDiskQueue does not look at the number of bytes that os.write() returns. The push that meets
# the limit counts as done; only the next one raises. What comes out is half an item, or, if there was room
# again before, a mixture of its first half and the beginning of the item behind it.
# What follows: a crawl whose disk was full for a moment loses the requests behind that moment.
# Output:
#   pushed without an error: 25 of 26
#   read then: 24 whole, and half of item 24
#   pushed after the limit is gone: 3 of 3
#   read then: 24 whole, and one that nobody pushed
source "$(dirname "$0")/common.sh"

pypi queuelib==1.10.0
cd "$work"
"$python" - <<'PY' | confirm
import resource
import signal

from queuelib import FifoDiskQueue

SIZE = 200
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # write() fails instead
SOFT, HARD = resource.getrlimit(resource.RLIMIT_FSIZE)


def item(number):
    return (b"%02d" % number) * (SIZE // 2)


def filled(name):
    """A queue whose file may have 5,000 bytes, and the number of pushes that succeeded."""
    queue, pushed = FifoDiskQueue(name), 0
    resource.setrlimit(resource.RLIMIT_FSIZE, (5000, HARD))
    for number in range(26):
        try:
            queue.push(item(number))
            pushed += 1
        except OSError:
            pass
    resource.setrlimit(resource.RLIMIT_FSIZE, (SOFT, HARD))
    return queue, pushed


def read(queue):
    """What comes out, up to the first item that is not as it was pushed."""
    whole = 0
    while (found := queue.pop()) == item(whole):
        whole += 1
    is_half = found == item(whole)[: SIZE // 2]
    return f"{whole} whole, and {f'half of item {whole}' if is_half else 'one that nobody pushed'}"


queue, pushed = filled("full")
print(f"pushed without an error: {pushed} of 26")
print(f"read then: {read(queue)}")
queue, _ = filled("freed")
for number in range(26, 29):
    queue.push(item(number))
print("pushed after the limit is gone: 3 of 3")
print(f"read then: {read(queue)}")
PY
