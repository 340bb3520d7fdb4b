#!/usr/bin/env python3
"""Every link and picture of every Markdown page leads somewhere: to a file or folder of the repository, and where it names an anchor, to a heading.

Addresses beyond the repository are not fetched. Issue 21, section 4: links are checked.
"""
import os, re, sys, unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import pages
from pages import ROOT


def broken(path, content=None, read=pages.read):
    """What is wrong with the links of a page, one sentence each."""
    page = read(path) if content is None else pages.parse(path, content)
    for line, text, target in pages.links(page):
        if re.match(r"(https?|mailto):", target):
            continue
        if re.match(r"[a-z][a-z+.-]*:", target):
            yield f"{path}:{line}: [{text}]({target}): allowed are paths and addresses that begin with https, http or mailto"
            continue
        place, _, anchor = target.partition("#")
        if place.startswith("/"):
            yield f"{path}:{line}: [{text}]({target}): a path from the root of a machine; allowed are paths from the page"
            continue
        found = os.path.normpath(os.path.join(os.path.dirname(path), place)) if place else path
        if found.startswith(".."):
            yield f"{path}:{line}: [{text}]({target}) leads out of the repository"
        elif found != path and not os.path.exists(os.path.join(ROOT, found)):
            yield f"{path}:{line}: [{text}]({target}): there is no file {found}"
        elif anchor and found.endswith(".md"):
            there = pages.anchors(page if found == path else pages.read(found))
            if anchor not in there:
                yield f"{path}:{line}: [{text}]({target}): {found} has no heading with the anchor {anchor}"
        elif anchor and os.path.isdir(os.path.join(ROOT, found)):
            yield f"{path}:{line}: [{text}]({target}): a folder has no anchors"


class Links(unittest.TestCase):
    def test_every_link_of_every_page_leads_somewhere(self):
        files = pages.markdown_files()
        self.assertIn("README.md", files)
        self.assertIn("docs/index.md", files)
        findings = [finding for path in files for finding in broken(path)]
        self.assertEqual(findings, [], "\n" + "\n".join(findings))

    def test_every_picture_of_the_documents_is_shown_or_listed(self):
        shown = set()
        for path in pages.markdown_files():
            shown |= {os.path.normpath(os.path.join(os.path.dirname(path), t)) for _, _, t in pages.links(pages.read(path)) if t.endswith(".png")}
        self.assertIn("docs/pictures/workload-1440-light.png", shown)
        for picture in shown:
            with open(os.path.join(ROOT, picture), "rb") as file:
                self.assertEqual(file.read(8), b"\x89PNG\r\n\x1a\n", picture)

    # The check itself: each kind of breach is found.
    def test_breaches_are_found(self):
        for content, sought in {
            "[a](nowhere.md)": "no file",
            "![a](pictures/none.png)": "no file",
            "[a](operations.md#no-such-heading)": "no heading",
            "[a](#no-such-heading)": "no heading",
            "[a](../../elsewhere)": "out of the repository",
            "[a](/etc/passwd)": "root of a machine",
            "[a](ftp://host/file)": "allowed are",
            "[a][b]\n\n[c]: page.md": "no heading",
            "text [b](../README.md) and [a](none.md)": "none.md",
        }.items():
            findings = list(broken("docs/x.md", content))
            self.assertEqual(len(findings), 1, (content, findings))
            self.assertIn(sought, findings[0])
        for content in ("[a](operations.md)", "`[a](nowhere.md)`", "    [a](nowhere.md)", "```text\n[a](nowhere.md)\n```", "# A head\n[a](#a-head)", "[a](https://example.org)"):
            self.assertEqual(list(broken("docs/x.md", content)), [], content)

    def test_anchors_are_those_of_the_viewers(self):
        page = pages.parse("x.md", "# `--generate`: jobs from a seed\n## Two\n## Two\n## A [link](b.md) and *more*")
        self.assertEqual(pages.anchors(page), {"--generate-jobs-from-a-seed", "two", "two-1", "a-link-and-more"})


if __name__ == "__main__":
    unittest.main()
