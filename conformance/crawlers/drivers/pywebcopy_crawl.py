"""Saves the site with pywebcopy."""

import os
import sys

from pywebcopy import save_website

save_website(sys.argv[1], project_folder=os.getcwd(), bypass_robots=False, open_in_browser=False)
