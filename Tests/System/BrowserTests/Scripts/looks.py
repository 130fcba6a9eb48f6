"""Looks at every page in Chromium: `looks.py FOLDER LOOK`.

For each document below FOLDER: no violation that axe-core finds, no violation of the policy, no error in the console, no
request to another origin, nothing wider than the window. A strict parser accepts each document.
"""

import importlib.util
import pathlib
import sys

import html5lib

from chromium import Browser, Site

folder, look = sys.argv[1:]
# The package wraps axe-core for another driver; only the file is used.
package = importlib.util.find_spec("axe_playwright_python").submodule_search_locations[0]
axe = pathlib.Path(package, "axe.min.js").read_text()
site, browser = Site(folder), Browser()
failures, count = [], 0

# Text grows by 40 %, as it does in other languages.
LONGER = """
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const node = walker.currentNode, words = node.data.trim().split(" ");
  if (words[0]) node.data += " " + words.slice(0, Math.ceil(words.length * 0.4)).join(" ");
}
"""
# Languages that are written from right to left.
MIRRORED = "document.documentElement.dir = 'rtl';"

looks = {
    "light": ("light", 1200, 1, ""),
    "dark": ("dark", 1200, 1, ""),
    "narrow": ("light", 320, 1, ""),
    "narrow-dark": ("dark", 360, 1, ""),
    "large-text": ("light", 640, 2, ""),
    "long-text": ("light", 360, 1, LONGER),
    "right-to-left": ("dark", 360, 1, MIRRORED),
}
scheme, width, scale, change = looks[look]
CHECK = """
const done = arguments[arguments.length - 1];
axe.run(document, { resultTypes: ["violations"] }).then((result) => done(result.violations.map(
  (one) => one.id + ": " + one.nodes.map((node) => node.target.join(" ") + " (" + node.failureSummary + ")").join("; "))));
"""

for path in sorted(pathlib.Path(folder).glob("*/*.html")):
    name = str(path.relative_to(folder))
    try:
        html5lib.HTMLParser(strict=True).parse(path.read_bytes(), transport_encoding="utf-8")
    except html5lib.html5parser.ParseError as error:
        failures.append(f"{name}: not strict: {error}")
    # One language shows how the others look.
    if not name.startswith("en/") and look != "narrow":
        continue
    count += 1
    browser.look(scheme, width, scale)
    browser.driver.get(f"{site.origin}/{name}")
    browser.driver.execute_script(change)
    for complaint in browser.complaints():
        failures.append(f"{name}: {complaint}")
    for url in browser.requests():
        if not url.startswith(site.origin + "/") and not url.startswith("data:"):
            failures.append(f"{name}: asks {url}")
    wide = browser.driver.execute_script("return document.documentElement.scrollWidth - innerWidth")
    if wide > 0:
        failures.append(f"{name}: {wide} pixels too wide")
    browser.driver.execute_script(axe)
    for violation in browser.driver.execute_async_script(CHECK):
        failures.append(f"{name}: {violation}")

browser.driver.quit()
print("\n".join(failures))
print(f"{count} pages, {len(failures)} failures")
sys.exit(1 if failures else 0)
