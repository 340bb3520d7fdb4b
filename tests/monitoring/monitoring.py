"""What the tests of deploy/monitoring share: the tables of metrics, expressions as tokens, promtool."""
import json, os, re, shutil, subprocess

import yaml

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DEPLOY = os.path.join(ROOT, "deploy", "monitoring")
RULES = os.path.join(DEPLOY, "rules", "hindsight.yaml")
# What Prometheus puts on every sample: who was asked, and, with a Prometheus of many clusters, which one.
TARGET_LABELS = {"cluster", "namespace", "job", "instance", "pod", "service", "container", "endpoint"}
HISTOGRAM_PARTS = ("_bucket", "_sum", "_count")
WORDS = {"and", "or", "unless", "by", "without", "on", "ignoring", "group_left", "group_right", "bool", "offset", "inf", "nan"}


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def metrics_of_page():
    """name -> (type, labels that are always there, labels that may be there), of docs/metrics.md, which another test compares with the code."""
    out = {}
    for line in read(ROOT, "docs", "metrics.md").splitlines():
        cells = [c.strip() for c in line.split(" | ")]
        name = re.fullmatch(r"\| `([a-z_]+)`", cells[0])
        if name:
            labels = re.findall(r"`([a-z_]+\??)`", cells[2])
            out[name[1]] = (cells[1], {w for w in labels if not w.endswith("?")}, {w[:-1] for w in labels if w.endswith("?")})
    return out


def rules():
    return [rule for group in yaml.safe_load(read(RULES))["groups"] for rule in group["rules"]]


def promtool(*words, **more):
    """What it says; AssertionError when it is not content."""
    program = shutil.which("promtool")
    assert program, "promtool is not installed: Debian's package prometheus has it"
    done = subprocess.run([program, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120, check=False, **more)
    assert done.returncode == 0, f"promtool {' '.join(words)}: status {done.returncode}\n{done.stdout[-4000:]}"
    return done.stdout


TOKEN = re.compile(r"""\s*(?:(?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(?P<time>\d+(?:ms|[smhdwy]))|(?P<number>\d+(?:\.\d+)?(?:e[+-]?\d+)?)
                        |(?P<name>[A-Za-z_:][A-Za-z0-9_:]*)|(?P<sign>=~|!~|!=|==|>=|<=|[-+*/%^<>=(){}\[\],:@]))""", re.VERBOSE)


def tokens(expression):
    out, at = [], 0
    expression = expression.strip()
    while at < len(expression):
        match = TOKEN.match(expression, at)
        assert match, f"no PromQL from here on: {expression[at:at + 40]!r}"
        out.append((match.lastgroup, match[match.lastgroup]))
        at = match.end()
    return out


def names_of(expression):
    """Names of metrics, and of labels that it selects or groups by."""
    metrics, labels = [], []
    words = tokens(expression) + [("end", "")]
    inside, grouping = False, False
    for i, (kind, text) in enumerate(words[:-1]):
        following = words[i + 1][1]
        if kind == "sign":
            inside = text == "{" or (inside and text != "}")
            grouping = (text == "(" and i > 0 and words[i - 1][1] in ("by", "without", "on", "ignoring", "group_left", "group_right")) or (grouping and text != ")")
        elif kind == "name" and inside:
            if following in ("=", "=~", "!=", "!~"):
                labels.append(text)
        elif kind == "name" and grouping:
            labels.append(text)
        elif kind == "name" and following not in ("(", "by", "without") and text not in WORDS:
            metrics.append(text)
    return metrics, labels


def judge_names(expression, known, extra=()):
    """What is wrong with names in an expression: metrics that nobody serves, labels that none of its metrics has."""
    metrics, labels = names_of(expression)
    wrong, allowed = [], set(TARGET_LABELS) | set(extra)
    for name in metrics:
        base = name
        if name not in known:
            base = next((name[: -len(part)] for part in HISTOGRAM_PARTS if name.endswith(part)), name)
            if base not in known or known[base][0] != "histogram":
                wrong.append(f"no metric is called {name}")
                continue
        elif known[name][0] == "histogram":
            wrong.append(f"{name} is a histogram: its samples are {name}_bucket, _sum and _count")
        allowed |= known[base][1] | known[base][2]
        if name.endswith("_bucket"):
            allowed.add("le")
    return wrong + [f"no metric of the expression has a label {label}" for label in labels if label not in allowed]


def dashboards():
    folder = os.path.join(DEPLOY, "dashboards")
    return {name: json.loads(read(folder, name)) for name in sorted(os.listdir(folder)) if name.endswith(".json")}


SAMPLE = re.compile(r'^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$')
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"')


def samples(text):
    """(name, labels, value) of each line of an answer of /metrics."""
    for line in text.splitlines():
        if line and not line.startswith("#"):
            match = SAMPLE.match(line)
            assert match, f"no sample: {line!r}"
            yield match[1], dict(LABEL.findall(match[2] or "")), match[3]


def types(text):
    """Name -> type, of the lines # TYPE."""
    return dict(line.split(" ")[2:4] for line in text.splitlines() if line.startswith("# TYPE "))
