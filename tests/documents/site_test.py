#!/usr/bin/env python3
"""The site of the documents builds without a warning, every page of docs/ is in it, and a browser fetches nothing of it from elsewhere.

Issue 21, section 4: documents as a site.
"""
import html.parser, json, os, re, shutil, subprocess, sys, tempfile, unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from pages import ROOT

# What a browser loads by itself: element and attribute.
LOADED = {("script", "src"), ("img", "src"), ("iframe", "src"), ("source", "src"), ("link", "href"), ("object", "data"), ("use", "href"), ("video", "src"), ("audio", "src")}
# Links that are read by people and programs, and loaded by nobody.
NOT_LOADED = {"canonical", "next", "prev", "edit"}


class Html(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.loads, self.headings, self.classes, self.pictures = [], 0, set(), []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.classes |= set((attributes.get("class") or "").split())
        self.headings += tag == "h1"
        if tag == "img":
            self.pictures.append(attributes)
        if tag == "link" and attributes.get("rel") in NOT_LOADED:
            return
        self.loads += [value for name, value in attributes.items() if (tag, name) in LOADED and value]


def fetched_from_elsewhere(text):
    """Addresses of a page, or of a style sheet, that a browser would ask other servers for."""
    loads = Html(text).loads + re.findall(r"url\(\s*['\"]?([^'\")]+)", text) + re.findall(r"@import\s+['\"]([^'\"]+)", text)
    return [load for load in loads if re.match(r"([a-z]+:)?//", load)]


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="hindsight-site-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        python = subprocess.run([os.path.join(ROOT, "scripts", "docs", "venv.sh")], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
        done = subprocess.run([python, "-m", "mkdocs", "build", "--strict", "--site-dir", cls.folder], cwd=ROOT, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=200, check=False,
                              env={**os.environ, "NO_MKDOCS_2_WARNING": "1", "http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9"})
        cls.said, cls.status = done.stdout, done.returncode

    def pages(self):
        for folder, _, files in os.walk(self.folder):
            for file in files:
                if file.endswith(".html"):
                    with open(os.path.join(folder, file), encoding="utf-8") as text:
                        yield os.path.relpath(os.path.join(folder, file), self.folder), text.read()

    def test_it_builds_without_a_warning(self):
        self.assertEqual(self.status, 0, self.said)
        self.assertNotIn("WARNING", self.said)

    def test_every_page_is_there(self):
        there = {name for name, _ in self.pages()}
        self.assertIn("index.html", there)
        for file in os.listdir(os.path.join(ROOT, "docs")):
            if file.endswith(".md") and file not in ("README.md", "index.md"):
                self.assertIn(os.path.join(file[:-3], "index.html"), there)
        for page in ("architecture", "measurements", "deploy", "examples", "changelog"):
            self.assertIn(os.path.join(page, "index.html"), there)

    def test_nothing_is_fetched_from_elsewhere(self):
        count = 0
        for name, text in self.pages():
            count += 1
            self.assertEqual(fetched_from_elsewhere(text), [], name)
            # Drawings in a language of their own would load a program from elsewhere.
            self.assertNotIn("mermaid", Html(text).classes, name)
        self.assertGreater(count, 20)
        for folder, _, files in os.walk(self.folder):
            for file in files:
                if file.endswith(".css"):
                    with open(os.path.join(folder, file), encoding="utf-8") as text:
                        self.assertEqual(fetched_from_elsewhere(text.read()), [], file)

    def test_pages_have_one_title_and_pictures_have_a_text(self):
        for name, text in self.pages():
            if name == "404.html":
                continue
            page = Html(text)
            self.assertEqual(page.headings, 1, name)
            for picture in page.pictures:
                if "pictures/" in (picture.get("src") or ""):
                    self.assertGreater(len(picture.get("alt") or ""), 10, f"{name}: {picture}")

    def test_runbooks_have_the_addresses_to_which_alerts_link(self):
        """deploy/monitoring/README.md and the chart's value metrics.rules.documents make runbooks/#ALERT of what the rules name."""
        with open(os.path.join(ROOT, "deploy", "monitoring", "rules", "hindsight.yaml"), encoding="utf-8") as file:
            named = re.findall(r"^ *runbook: docs/runbooks\.md#(\w+)$", file.read(), flags=re.MULTILINE)
        self.assertGreater(len(named), 10)
        page = dict(self.pages())[os.path.join("runbooks", "index.html")]
        for anchor in named:
            self.assertEqual(len(re.findall(rf'<h2 id="{anchor}"', page)), 1, anchor)

    def test_it_can_be_searched(self):
        with open(os.path.join(self.folder, "search", "search_index.json"), encoding="utf-8") as file:
            found = " ".join(entry["title"] for entry in json.load(file)["docs"])
        for title in ("Glossary", "Troubleshooting", "Comparison"):
            self.assertIn(title, found)

    # The check itself.
    def test_what_a_browser_would_fetch_is_found(self):
        for text in ('<script src="https://cdn.example/x.js"></script>', '<link rel="stylesheet" href="//fonts.example/a.css">', '<img src="http://x/y.png">',
                     "<style>@import 'https://x/y.css';</style>", "a{background:url(https://x/y.png)}"):
            self.assertEqual(len(fetched_from_elsewhere(text)), 1, text)
        for text in ('<a href="https://example.org">x</a>', '<link rel="canonical" href="https://x/">', '<img src="pictures/a.png">'):
            self.assertEqual(fetched_from_elsewhere(text), [], text)


if __name__ == "__main__":
    unittest.main()
