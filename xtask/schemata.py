#!/usr/bin/env python3
"""All mutants of some files in one build, chosen at run time (mutant schemata, Untch et al. 1993).

To build once per mutant takes a day for the solver. This program, which `cargo xtask mutants` runs, takes the list of
cargo-mutants, copies the project to target/schemata/NAME/tree, and gives each function that has mutants the body

    match crate::__mutant() { ID => { the body with that one change } ... _ => { the original body } }

where IOCO_MUTANT=ID chooses. The tests are built once; then a mutant costs one run of the test programs, quickest
first, up to the first test that fails.

    xtask/schemata.py build solve --mutate 'ioco-solve=crates/solve/src/**' --test-package ioco-solve --opt 1
    nice xtask/schemata.py run solve         # goes on where it stopped; results in target/schemata/solve/results.json
    xtask/schemata.py run solve --missed     # after another build with more tests: only what was missed
    xtask/schemata.py report solve           # a table by file; missed.txt and left-out.txt

A survivor is either a missing test or an equivalent mutant. Equivalent mutants are listed in equivalent-mutants.txt,
each with the reason why no test can tell it from the original; a line explains one mutant.

left-out.txt lists mutants that do not compile, and the few that schemata cannot hold (constants, functions that
return `impl Trait`): `cargo mutants --package P --file F --re NAME` runs those. A mutant that takes five times as long as the
original, and at least 20 s, counts as timed out. A test that fails without a mutant is left out, and named by `build`.
"""

import argparse
import collections
import concurrent.futures
import fnmatch
import json
import os
import re
import resource
import selectors
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HERE = ROOT / "target" / "schemata"


def sh(args, **kw):
    return subprocess.run([str(a) for a in args], **kw)


def closing_to_opening(text):
    """Position of each '}' -> position of its '{', skipping strings, characters and comments."""
    pairs, stack, i, n = {}, [], 0, len(text)
    while i < n:
        c = text[i]
        if text.startswith("//", i):
            i = text.find("\n", i)
            if i < 0:
                break
        elif text.startswith("/*", i):
            depth, i = 1, i + 2
            while depth:
                if text.startswith("/*", i):
                    depth += 1
                    i += 2
                elif text.startswith("*/", i):
                    depth -= 1
                    i += 2
                else:
                    i += 1
        elif (m := re.compile(r'[bc]?r(#*)"').match(text, i)) and (
            i == 0 or not (text[i - 1].isalnum() or text[i - 1] == "_")
        ):
            i = text.index('"' + m.group(1), m.end()) + 1 + len(m.group(1))
        elif c == '"':
            i += 1
            while text[i] != '"':
                i += 2 if text[i] == "\\" else 1
            i += 1
        elif c == "'":
            m = re.compile(r"'(\\u\{[0-9a-fA-F_]+\}|\\x..|\\.|[^\\'])'", re.S).match(text, i)
            i = m.end() if m else i + 1
        else:
            if c == "{":
                stack.append(i)
            elif c == "}":
                pairs[i] = stack.pop()
            i += 1
    return pairs


class Source:
    def __init__(self, text):
        self.text = text
        self.starts = [0]
        for i, c in enumerate(text):
            if c == "\n":
                self.starts.append(i + 1)
        self.pairs = closing_to_opening(text)

    def at(self, place):
        return self.starts[place["line"] - 1] + place["column"] - 1

    def span(self, span):
        return self.at(span["start"]), self.at(span["end"])


def rewrite(text, mutants):
    """The text with every mutant in it. Functions inside functions keep their dispatch in the original body."""
    source = Source(text)
    functions = collections.defaultdict(list)
    for m in mutants:
        _, end = source.span(m["function"]["span"])
        opening = source.pairs[end - 1]
        functions[(opening, end)].append(m)
    order = sorted(functions, key=lambda s: (s[0], -s[1]))

    def emit(lo, hi, spans):
        out, at = [], lo
        while spans:
            (start, end), rest = spans[0], spans[1:]
            inner = [s for s in rest if s[1] <= end and s[0] > start]
            spans = [s for s in rest if s not in inner]
            out.append(text[at:start])
            out.append("{ match crate::__mutant() {\n")
            for m in functions[(start, end)]:
                a, b = source.span(m["span"])
                assert start < a <= b < end, m["name"]
                body = text[start:a] + m["replacement"] + " " + text[b:end]
                out.append(f"/*<{m['id']}>*/\n{m['id']}u32 => \n{body}\n/*</{m['id']}>*/\n")
            out.append("_ => \n")
            out.append(emit(start, end, inner))
            out.append("\n} }")
            at = end
        out.append(text[at:hi])
        return "".join(out)

    return emit(0, len(text), order)


def places(text):
    """Line -> mutant, of a rewritten file."""
    found, current = {}, None
    for number, line in enumerate(text.split("\n"), 1):
        if m := re.fullmatch(r"/\*<(\d+)>\*/", line):
            current = int(m.group(1))
        if m := re.fullmatch(r"/\*</(\d+)>\*/", line):
            current = None
        if current:
            found[number] = current
    return found


def spans_of(message):
    for span in message.get("spans", []):
        if not span["is_primary"]:
            continue
        while span.get("expansion") and not span["file_name"].startswith("crates"):
            span = span["expansion"]["span"]
        yield span


def files_of(source):
    out = sh(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=source,
        check=True,
        capture_output=True,
    ).stdout
    return sorted({f for f in out.decode().split("\0") if f and (Path(source) / f).is_file()})


def commit():
    """What is built: the commit, with a plus where files differ from it."""
    head = sh(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, check=True, capture_output=True, text=True)
    changed = sh(["git", "status", "--porcelain"], cwd=ROOT, check=True, capture_output=True, text=True)
    return head.stdout.strip() + ("+" if changed.stdout else "")


def write(path, content):
    """Writes what differs only, so that cargo builds what changed only."""
    if path.is_symlink() or not path.exists() or path.read_bytes() != content:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


RUNTIME = """
#[doc(hidden)]
#[allow(clippy::all, clippy::disallowed_methods, missing_docs)]
#[inline]
pub fn __mutant() -> u32 {
    static ID: std::sync::OnceLock<u32> = std::sync::OnceLock::new();
    *ID.get_or_init(|| std::env::var("IOCO_MUTANT").ok().and_then(|id| id.parse().ok()).unwrap_or(0))
}
"""


def build(a):
    base = HERE / a.name
    base.mkdir(parents=True, exist_ok=True)
    tree, source = base / "tree", ROOT
    mutants, packages = [], []
    for part in a.mutate:
        package, globs = part.split("=")
        packages.append(package)
        listing = ["cargo", "mutants", "--list", "--json", "--package", package]
        for f in globs.split(","):
            listing += ["--file", f]
        found = json.loads(sh(listing, cwd=source, check=True, capture_output=True, text=True).stdout)
        print(f"{part}: {len(found)} mutants", flush=True)
        mutants += found
    seen, unique = set(), []
    for m in mutants:
        if m["name"] not in seen:
            seen.add(m["name"])
            unique.append(m)
    mutants = unique
    for i, m in enumerate(mutants, 1):
        m["id"] = i
        m.pop("diff", None)
    meta = json.loads(
        sh(
            ["cargo", "metadata", "--no-deps", "--format-version", "1", "--offline"],
            cwd=source,
            check=True,
            capture_output=True,
            text=True,
        ).stdout
    )
    libs = set()
    for package in set(packages):
        found = next(p for p in meta["packages"] if p["name"] == package)
        libs.add(
            str(
                next(Path(t["src_path"]) for t in found["targets"] if "lib" in t["kind"]).relative_to(
                    source.resolve()
                )
            )
        )
    left_out = {}
    for m in mutants:
        if not m["function"]:
            left_out[m["id"]] = "not in a function"
        elif "impl " in (m["function"]["return_type"] or ""):
            left_out[m["id"]] = "returns impl Trait"
    by_file = collections.defaultdict(list)
    for m in mutants:
        by_file[m["file"]].append(m)

    def plain(file):
        text = (source / file).read_bytes()
        if file in libs:
            text += RUNTIME.encode()
        if file == "Cargo.toml" and a.opt:
            text = text.decode()
            text = text.replace("[profile.dev]\n", f"[profile.dev]\nopt-level = {a.opt}\n", 1)
            text = text.replace(
                '[profile.dev.package."*"]\n', '[profile.dev.package."*"]\nopt-level = 0\n', 1
            ).encode()
        return text

    every = files_of(source)
    for old in [p for p in tree.rglob("*") if p.is_file()] if tree.exists() else []:
        name = str(old.relative_to(tree))
        if name not in every:
            old.unlink()
    for file in every:
        if file not in by_file:
            write(tree / file, plain(file))
    # Registry packages are shared with the project's own builds.
    env = dict(
        os.environ,
        CARGO_TARGET_DIR=str(ROOT / "target"),
        CARGO_INCREMENTAL="0",
        CARGO_PROFILE_DEV_DEBUG="0",
        CARGO_TERM_COLOR="never",
    )
    # Cargo takes the same package in another tree for this one.
    for package in packages:
        for kept in (ROOT / "target" / "debug" / ".fingerprint").glob(f"{package}-*"):
            shutil.rmtree(kept)
    # What did not compile the last time does not compile now either, if its text is the same.
    known = json.loads((base / "bad.json").read_text()) if (base / "bad.json").exists() else {}
    for m in mutants:
        if m["id"] not in left_out and m["name"] in known:
            left_out[m["id"]] = known[m["name"]]
    for attempt in range(12):
        where = {}
        for file in by_file:
            new = rewrite(plain(file).decode(), [m for m in by_file[file] if m["id"] not in left_out])
            where[file] = places(new)
            write(tree / file, new.encode())
        bad, other, code, err = {}, [], 0, ""
        started = time.time()
        for package in dict.fromkeys(packages):
            done = sh(
                ["cargo", "build", "--offline", "--lib", "-p", package, "--message-format=json"],
                cwd=tree,
                env=env,
                capture_output=True,
                text=True,
            )
            code, err = code or done.returncode, err + done.stderr
            for line in done.stdout.splitlines():
                if not line.startswith("{"):
                    continue
                msg = json.loads(line)
                if msg.get("reason") != "compiler-message" or not msg["message"]["level"].startswith("error"):
                    continue
                hit = False
                for span in spans_of(msg["message"]):
                    for l in range(span["line_start"], span["line_end"] + 1):
                        id = where.get(span["file_name"], {}).get(l)
                        if id:
                            bad[id] = "does not compile: " + msg["message"]["message"].split("\n")[0]
                            hit = True
                            break
                if not hit and msg["message"]["spans"]:
                    other.append(msg["message"]["rendered"])
        print(
            f"check {attempt}: {time.time()-started:.0f} s, {len(bad)} mutants do not compile, {len(other)} other errors",
            flush=True,
        )
        if code == 0:
            break
        if not bad:
            print("\n".join(other[:10]) or err[-3000:])
            sys.exit("the schemata do not compile")
        left_out.update(bad)
        (base / "bad.json").write_text(
            json.dumps(
                {m["name"]: left_out[m["id"]] for m in mutants if left_out.get(m["id"], "").startswith("does not")},
                indent=1,
            )
        )
    kept = {"commit": commit(), "mutants": mutants, "left_out": left_out}
    (base / "mutants.json").write_text(json.dumps(kept, indent=1))
    command = ["cargo", "test", "--offline", "--no-run", "--message-format=json"]
    for t in a.test_package:
        command += ["-p", t]
    started = time.time()
    done = sh(command, cwd=tree, env=env, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit("the tests do not build")
    binaries = []
    for line in done.stdout.splitlines():
        if not line.startswith("{"):
            continue
        msg = json.loads(line)
        if msg.get("reason") == "compiler-artifact" and msg.get("executable") and msg["profile"]["test"]:
            folder = str(Path(msg["manifest_path"]).parent)
            owner = Path(folder).name
            binaries.append(
                {
                    "name": f"{owner}/{msg['target']['name']}:{msg['target']['kind'][0]}",
                    "exe": msg["executable"],
                    "folder": folder,
                    "package": msg["package_id"],
                }
            )
    print(
        f"tests built in {time.time()-started:.0f} s: {len(binaries)} binaries; {len(left_out)} mutants left out",
        flush=True,
    )
    # Later builds in the same target/ may overwrite the binaries: keep a copy.
    (base / "bin").mkdir(exist_ok=True)
    for b in binaries:
        copy = base / "bin" / Path(b["exe"]).name
        shutil.copy2(b["exe"], copy)
        b["exe"] = str(copy)
    # Baseline: how long each takes, and what fails without a mutant.
    for b in binaries:
        b["skip"] = []
        for _ in range(4):
            started = time.time()
            state, failed, out = run_binary(b, 0, 900, stop_at_failure=False)
            b["seconds"] = time.time() - started
            if state == "passed":
                break
            if state != "failed" or not failed:
                b["broken"] = True
                break
            b["skip"] += failed
        print(
            f"  {b['seconds']:7.1f} s  {b['name']}"
            + (f"  leaves out {b['skip']}" if b["skip"] else "")
            + ("  BROKEN: left out\n" + out[-1500:] if b.get("broken") else ""),
            flush=True,
        )
    binaries = sorted((b for b in binaries if not b.get("broken")), key=lambda b: b["seconds"])
    (base / "binaries.json").write_text(json.dumps(binaries, indent=1))
    # Keep the results of mutants that still exist; what passed before must run again, as tests may have changed.
    old = base / "results.json"
    if old.exists():
        names = {place_free(m["name"]): m["name"] for m in mutants}
        kept = {}
        for name, r in json.loads(old.read_text()).items():
            if place_free(name) in names and (
                name in seen or list(map(place_free, seen)).count(place_free(name)) == 1
            ):
                r["passed"] = []
                kept[name if name in seen else names[place_free(name)]] = r
        old.rename(base / f"results.{int(time.time())}.json")
        old.write_text(json.dumps(kept, indent=1))


def limits():
    os.setsid()
    resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run_binary(b, mutant, timeout, stop_at_failure=True, only=None):
    folder = Path(b["folder"])
    env = dict(
        os.environ,
        CARGO_MANIFEST_DIR=str(folder),
        CARGO_MANIFEST_PATH=str(folder / "Cargo.toml"),
        IOCO_MUTANT=str(mutant),
        INSTA_UPDATE="no",
        INSTA_WORKSPACE_ROOT=str(folder.parent.parent),
        PROPTEST_FAILURE_PERSISTENCE="off",
        RUST_BACKTRACE="0",
        CARGO_TARGET_DIR=str(ROOT / "target"),
        CARGO_PKG_NAME="ioco",
        CARGO="cargo",
        RUST_MIN_STACK=str(64 << 20),
    )
    if isinstance(only, list):
        args = [b["exe"], *only, "--exact"]
    else:
        args = [b["exe"]] + ([only] if only else [])
        for s in b["skip"]:
            args += ["--skip", s]
        if b["skip"]:
            args.append("--exact")
    process = subprocess.Popen(
        args,
        cwd=folder,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        preexec_fn=limits,
    )
    os.set_blocking(process.stdout.fileno(), False)
    selector = selectors.DefaultSelector()
    selector.register(process.stdout, selectors.EVENT_READ)
    end, text, failed, state = time.time() + timeout, "", [], None
    while True:
        left = end - time.time()
        if left <= 0:
            state = "timeout"
            break
        if selector.select(min(left, 1)):
            chunk = process.stdout.read()
            if chunk == b"":
                break
            if chunk:
                text += chunk.decode(errors="replace")
            if stop_at_failure and (m := re.search(r"^test (.+?)(?: - should panic)? \.\.\. FAILED", text, re.M)):
                failed, state = [m.group(1)], "failed"
                break
        elif process.poll() is not None:
            break
    if state is None:
        try:
            code = process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            code, state = None, "timeout"
        if state is None:
            failed = re.findall(r"^test (.+?)(?: - should panic)? \.\.\. FAILED", text, re.M)
            state = "passed" if code == 0 else "failed"
            if code and not failed:
                failed = [] if not stop_at_failure else [f"exit {code}"]
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()
    process.stdout.close()
    return state, failed, text


def run(a):
    base = HERE / a.name
    info = json.loads((base / "mutants.json").read_text())
    binaries = json.loads((base / "binaries.json").read_text())
    if a.binary:
        binaries = [b for b in binaries if any(fnmatch.fnmatch(b["name"], g) for g in a.binary)]
    if a.without:
        binaries = [b for b in binaries if not any(fnmatch.fnmatch(b["name"], g) for g in a.without)]
    path = base / "results.json"
    results = json.loads(path.read_text()) if path.exists() else {}
    left_out = {int(k): v for k, v in info["left_out"].items()}
    todo = [m for m in info["mutants"] if m["id"] not in left_out]
    if a.only:
        wanted = {place_free(l.strip()) for l in Path(a.only).read_text().splitlines() if l.strip()}
        todo = [m for m in todo if place_free(m["name"]) in wanted]
    if a.re:
        todo = [m for m in todo if re.search(a.re, m["name"])]
    if a.missed:
        todo = [m for m in todo if results.get(m["name"], {}).get("state") == "missed"]
    elif not a.again:
        todo = [m for m in todo if m["name"] not in results]
    lock, count = threading.Lock(), [0]
    # The unit tests of the file, and what caught other mutants of the same function or file, are asked first.
    catchers = collections.defaultdict(collections.Counter)

    def places_of(m):
        return [m["file"] + (m["function"] or {}).get("function_name", ""), m["file"]]

    def remember(m, record):
        if record["state"] == "caught" and record["test"] and not record["test"][0].startswith("exit "):
            for place in places_of(m):
                catchers[place][(record["by"], record["test"][0])] += 1

    for m in info["mutants"]:
        if m["name"] in results:
            remember(m, results[m["name"]])

    def own_tests(m):
        """The module whose unit tests lie next to the mutant."""
        path = m["file"].split("/src/")[1].removesuffix(".rs").removesuffix("/mod")
        return path.replace("/", "::") + "::tests::"

    def likely(m):
        for b in binaries if not a.filter else []:
            crate = b["folder"].rsplit("/", 1)[-1]
            if b["name"].endswith(":lib") and m["file"].startswith(f"crates/{crate}/"):
                state, failed, _ = run_binary(b, m["id"], max(20, a.factor * b["seconds"]), only=own_tests(m))
                if state != "passed":
                    return {"state": "caught" if state == "failed" else "timeout", "by": b["name"], "test": failed[:1]}
        with lock:
            found = dict.fromkeys(t for p in places_of(m) for t, _ in catchers[p].most_common(5))
        for b in binaries:
            tests = [test for by, test in found if by == b["name"]]
            if tests and not a.filter:
                state, failed, _ = run_binary(b, m["id"], max(20, a.factor * b["seconds"]), only=tests)
                if state != "passed":
                    return {"state": "caught" if state == "failed" else "timeout", "by": b["name"], "test": failed[:1]}
        return None

    def one(m):
        previous = results.get(m["name"], {})
        passed = [] if a.again else previous.get("passed", []) if previous.get("state") == "missed" else []
        record = likely(m) or {"state": "missed", "passed": list(passed)}
        for b in binaries if record["state"] == "missed" else []:
            if b["name"] in passed:
                continue
            state, failed, _ = run_binary(b, m["id"], max(20, a.factor * b["seconds"]), only=a.filter)
            if state != "passed":
                record = {"state": "caught" if state == "failed" else "timeout", "by": b["name"], "test": failed[:1]}
                break
            if not a.filter:
                record["passed"].append(b["name"])
        record["commit"] = info["commit"]
        with lock:
            results[m["name"]] = record
            remember(m, record)
            count[0] += 1
            print(
                f"{count[0]}/{len(todo)} {record['state']:8} {m['name']}"
                + (f"   <- {record.get('by')} {record.get('test')}" if record["state"] != "missed" else ""),
                flush=True,
            )
            path.write_text(json.dumps(results, indent=1))

    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        list(pool.map(one, todo))
    return report(a)


def place_free(name):
    return re.sub(r"^([^:]+):\d+:\d+: ", r"\1: ", name)


def equivalent():
    """The mutants that are listed as equivalent, without their places, and how often."""
    listed = collections.Counter()
    for line in (ROOT / "xtask" / "equivalent-mutants.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            mutant, mark, reason = line.partition("  # ")
            if not reason:
                sys.exit(f"equivalent-mutants.txt: a line without a reason: {line}")
            listed[mutant.strip()] += 1
    return listed


def report(a):
    base = HERE / a.name
    info = json.loads((base / "mutants.json").read_text())
    results = json.loads((base / "results.json").read_text()) if (base / "results.json").exists() else {}
    left_out = {int(k): v for k, v in info["left_out"].items()}
    listed, table, missed = equivalent(), collections.defaultdict(collections.Counter), []
    for m in info["mutants"]:
        state = "left out" if m["id"] in left_out else results.get(m["name"], {"state": "not run"})["state"]
        if state == "missed":
            if listed[place_free(m["name"])] > 0:
                listed[place_free(m["name"])] -= 1
                state = "equivalent"
            else:
                missed.append(m["name"])
        table[m["file"]][state] += 1
        table["all"][state] += 1
    (base / "missed.txt").write_text("".join(n + "\n" for n in missed))
    (base / "left-out.txt").write_text(
        "".join(f"{m['name']}\t{left_out[m['id']]}\n" for m in info["mutants"] if m["id"] in left_out)
    )
    states = ["caught", "timeout", "equivalent", "missed", "left out", "not run"]
    print(f"\n{'':44}" + "".join(f"{s:>11}" for s in states))
    for file, counts in sorted(table.items()):
        print(f"{file:44}" + "".join(f"{counts[s]:11}" for s in states))
    print(f"commits: {dict(collections.Counter(r.get('commit') for r in results.values()))}")
    for name, spare in listed.items():
        if spare > 0 and name.split(": ")[0] in table and not table["all"]["not run"]:
            print(f"listed as equivalent, but there is no such survivor: {name}")
    for name in missed:
        print(f"missed: {name}")
    print(f"missed: {base / 'missed.txt'}; left out: {base / 'left-out.txt'}")
    return bool(missed)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    sub = p.add_subparsers(required=True)
    b = sub.add_parser("build")
    b.set_defaults(do=build)
    b.add_argument("name")
    b.add_argument("--mutate", action="append", required=True, help="PACKAGE=GLOB,GLOB")
    b.add_argument("--test-package", action="append", required=True)
    b.add_argument("--opt", type=int, default=0)
    r = sub.add_parser("run")
    r.set_defaults(do=run)
    r.add_argument("name")
    r.add_argument("--only", help="file with names of mutants")
    r.add_argument("--re")
    r.add_argument("--missed", action="store_true", help="only those missed so far")
    r.add_argument("--again", action="store_true", help="forget earlier results of the chosen mutants")
    r.add_argument("--binary", action="append", help="glob of CRATE/TARGET:KIND")
    r.add_argument("--without", action="append")
    r.add_argument("--filter", help="only tests whose names contain this; what they miss is run again with --missed")
    r.add_argument("--jobs", type=int, default=2)
    r.add_argument("--factor", type=float, default=5)
    s = sub.add_parser("report")
    s.set_defaults(do=report)
    s.add_argument("name")
    a = p.parse_args()
    sys.exit(1 if a.do(a) else 0)


main()
