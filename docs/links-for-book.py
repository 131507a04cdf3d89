"""Makes links that are good in the repository good in the book, as a preprocessor of mdBook.

A link out of docs/ leads to the repository's site, and a link to a README.md to the page index.md,
which mdBook makes of it.
"""

import json
import posixpath
import re
import sys

REPOSITORY = "https://github.com/fedround/fedround/blob/main/"
LINK = re.compile(r"\]\(([^)#\s]+)(#[^)\s]*)?\)")


def link(page, match):
    target, heading = match[1], match[2] or ""
    if "://" in target:
        return match[0]
    path = posixpath.normpath(posixpath.join("docs", posixpath.dirname(page), target))
    if not path.startswith("docs/"):
        return f"]({REPOSITORY}{path}{heading})"
    if posixpath.basename(path) == "README.md":
        return f"]({target.removesuffix('README.md')}index.md{heading})"
    return match[0]


def rewrite(items):
    for chapter in (item["Chapter"] for item in items if "Chapter" in item):
        page = chapter["source_path"] or ""
        chapter["content"] = LINK.sub(lambda match: link(page, match), chapter["content"])
        rewrite(chapter["sub_items"])


if sys.argv[1:2] == ["supports"]:
    sys.exit()
_, book = json.load(sys.stdin)
rewrite(book["items"])
json.dump(book, sys.stdout)
