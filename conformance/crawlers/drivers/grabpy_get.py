"""Gets the pages with Grabpy."""

import sys
from contextlib import suppress

from grabpy import Grabber

grabber = Grabber("examplebot/1.0", retries=0)
for url in sys.argv[1:]:
    with suppress(Exception):  # refused
        grabber.get(url)
