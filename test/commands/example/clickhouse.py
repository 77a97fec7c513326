"""Runs the SQL that `viewlog example clickhouse` prints, a table and its inserts, in ClickHouse's own engine."""

import gzip
import json
import pathlib
import subprocess
import tempfile

from chdb import session

ROOT = pathlib.Path(__file__).parents[3]
FULL = {
    "pn": "Home – \"Welcome\"", "pid": "page-42", "mb": -3, "mv": {"vt": 1, "v30": 0, "dlv": -7},
    "mp": {"p": ["page-41"]}, "cf": [{"a": [1]}, "x"], "csf": [], "p": "1000001", "ubl": "nb-NO",
    "ref": "", "ld": "2026-01-31T23:59:59.999Z", "url": "/home", "content": {"templateId": "t"},
    "orgreferer": "https://search.example/", "hc": True,
}
LEAST = {"pid": "page-42", "p": "1000001", "ld": "2026-01-31T23:59:59.999Z", "url": "/least"}


def line(number, view, day="2026-03-01"):
    stamp = {"ts": f"{day}T00:00:0{number}.046Z", "id": f"019fa2c4-5b1e-7a3c-9d2f-6b8e0c4d1a0{number}"}
    return json.dumps({**stamp, **view}, ensure_ascii=False)


data = pathlib.Path(tempfile.mkdtemp()) / "views-of-2026"
data.mkdir()
FRAGMENT = '{"ts":"2026-03-01T00:00:01.000Z","id":"'
NEWER = {**LEAST, "of-a-newer-version": {"x": 1}}
(data / "views-2026-03-01.ndjson").write_text(
    "\n".join([line(1, FULL), FRAGMENT, line(2, LEAST), line(3, NEWER)]) + "\n"
)
(data / "views-2026-03-02.ndjson.gz").write_bytes(gzip.compress((line(4, FULL, "2026-03-02") + "\n").encode()))
(data / "refused-2026-03-02.ndjson").write_text('{"ts":"x"}\n')

example = ["node", ROOT / "dist/viewlog.mjs", "example", "clickhouse", "--data", data]
sql = subprocess.run(example, check=True, capture_output=True, text=True).stdout
statements = [one for one in sql.split(";\n") if one]
print(f"{len(statements)} statements")

with session.Session() as clickhouse:
    clickhouse.query("CREATE DATABASE d ENGINE = Atomic; USE d")
    ask = lambda text: clickhouse.query(text, "TSV").bytes().decode()
    print(ask("SELECT version()"))
    for _ in range(2):  # inserting a line twice stores it once
        for statement in statements:
            answer = ask(statement)
    print(answer)
    assert answer == "2026-03-01\t1000001\t3\n2026-03-02\t1000001\t1\n", answer
    rows = clickhouse.query("SELECT * FROM views FINAL ORDER BY ts", "JSONEachRow").bytes().decode()
    full = json.loads(rows.splitlines()[0])
    assert full["cf"] == '[{"a":[1]},"x"]' and full["mv"] == {"vt": 1, "v30": 0, "dlv": -7}
    assert full["ts"] == "2026-03-01 00:00:01.046" and full["ld"] == "2026-01-31 23:59:59.999"
    assert full["pn"] == FULL["pn"] and full["mp"] == {"p": ["page-41"]} and full["hc"] is True
    # A line as Vector sends it, with an additional field.
    sent = json.dumps({**json.loads(line(5, FULL)), "timestamp": "2026-03-01T00:00:05Z"})
    how = "date_time_input_format = 'best_effort', input_format_skip_unknown_fields = 1"
    ask(f"INSERT INTO views SETTINGS {how} FORMAT JSONEachRow {sent}")
    assert ask("SELECT cf, mv.dlv, hc FROM views WHERE toSecond(ts) = 5") == '[{"a": [1]}, "x"]\t-7\ttrue\n'
print("ClickHouse accepts it")
