"""Opens what `ioco report` and `ioco convert` wrote with programs that are not ioco's, and holds what they read against
what ioco counted; the archive of a release likewise. The arguments are the folders with the files; `readers.rs` writes
them."""

import json
import pathlib
import subprocess
import sys
import tarfile
import xml.etree.ElementTree as xml

from altwalker.exceptions import ValidationException
from altwalker.model import get_models, validate_models
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from junitparser import JUnitXml

HERE, RELEASE = map(pathlib.Path, sys.argv[1:])
PROGRAMS = pathlib.Path(sys.executable).parent


def hold(what, read, counted):
    if read != counted:
        sys.exit(f"{what}: read {read}, and ioco counted {counted}")
    print(f"   {what}: {read}")


def run(*command):
    done = subprocess.run([*map(str, command)], cwd=HERE, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{command[0]}: {done.stdout}{done.stderr}")
    return done.stdout


def junit(summary):
    """Libraries and viewers of JUnit reports, and the rules that GitLab documents for them."""
    counted = {name: summary[name] for name in ("tests", "failed", "errors", "inconclusive")}
    read = JUnitXml.fromfile(str(HERE / "junit.xml"))
    hold(
        "junitparser",
        dict(tests=read.tests, failed=read.failures, errors=read.errors, inconclusive=sum(s.skipped for s in read)),
        counted,
    )
    shown = run(PROGRAMS / "junit2html", "--summary-matrix", "junit.xml")
    numbers = {line.split(":")[0].strip(): line.split(":")[1].strip() for line in shown.splitlines() if line.count(":") == 1}
    hold("junit2html", int(numbers.get("Failed", "0")), summary["failed"])
    run(PROGRAMS / "junit2html", "junit.xml", "junit.html")
    if "D001" not in (HERE / "junit.html").read_text():
        sys.exit("junit2html does not show the failure")
    # GitLab has no schema. It documents what it reads: the class and name of a case, which must not repeat, its time,
    # and the text of a failure; files up to 30 MB.
    cases = xml.parse(HERE / "junit.xml").getroot().findall("./testsuite/testcase")
    names = {(case.get("classname"), case.get("name")) for case in cases}
    hold("distinct names for GitLab", len(names), summary["tests"])
    for case in cases:
        float(case.get("time"))
        for failure in case.findall("failure"):
            if not failure.text or not failure.text.strip():
                sys.exit(f"GitLab would show no text for {case.get('name')}")


def sarif(summary):
    """A tool set for SARIF: its counts, its web page, and its report for GitLab's code quality view."""
    failures = summary["distinct_failures"]
    shown = run(PROGRAMS / "sarif", "summary", "ioco.sarif")
    hold("sarif-tools", [line for line in shown.splitlines() if line.startswith("error:")], [f"error: {failures}"])
    run(PROGRAMS / "sarif", "html", "ioco.sarif", "--output", "sarif.html")
    run(PROGRAMS / "sarif", "codeclimate", "ioco.sarif", "--output", "quality.json")
    entries = json.loads((HERE / "quality.json").read_text())
    places = {entry["location"]["path"] for entry in entries}
    hold("entries for code quality", (len(entries), {pathlib.PurePath(place).name for place in places}), (failures, {"door.aml"}))


def graphviz(size):
    drawn = xml.fromstring(run("dot", "-Tsvg", "door.dot"))
    groups = [group.get("class") for group in drawn.iter("{http://www.w3.org/2000/svg}g")]
    # One node more: the mark of the initial location, with an edge of its own.
    hold("Graphviz", (groups.count("node"), groups.count("edge")), (size["locations"] + 1, size["switches"] + 1))


def graphwalker(size):
    """AltWalker's reader of GraphWalker's files. It wants names that are identifiers of Python, which `?press` is not."""
    read = get_models([str(HERE / "bell.graphwalker.json")])["models"][0]
    hold("AltWalker", (len(read["vertices"]), len(read["edges"])), (size["locations"], size["switches"]))
    try:
        validate_models([str(HERE / "bell.graphwalker.json")])
    except ValidationException as found:
        others = [line for line in str(found).splitlines() if not line.endswith("is not a valid identifier.")]
        if others:
            sys.exit(f"AltWalker: {others}")


def release():
    """The sums are right, the bill of materials keeps to the schema of CycloneDX, and the archive has what it promises."""
    subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=RELEASE, check=True)
    [archive] = RELEASE.glob("ioco-*.tar.gz")
    names = {pathlib.PurePath(name).relative_to(archive.name.removesuffix(".tar.gz")) for name in tarfile.open(archive).getnames()}
    wanted = ["ioco", "LICENSE-MIT", "LICENSE-APACHE", "README.md", "CHANGELOG.md", "SECURITY.md", "ioco.cdx.json"]
    wanted += [f"completions/ioco.{shell}" for shell in ("bash", "zsh", "fish", "powershell")] + ["man/ioco.1", "man/ioco-test.1"]
    hold("missing in the archive", [name for name in wanted if pathlib.PurePath(name) not in names], [])
    [bill] = RELEASE.glob("ioco-*.cdx.json")
    wrong = JsonStrictValidator(SchemaVersion.V1_5).validate_str(bill.read_text())
    hold("errors in the bill of materials", wrong, None)


SUMMARY = json.loads((HERE / "events.jsonl").read_text().splitlines()[-1])["summary"]
junit(SUMMARY)
sarif(SUMMARY)
graphviz(json.loads((HERE / "door.json").read_text()))
release()
graphwalker(json.loads((HERE / "bell.json").read_text()))
