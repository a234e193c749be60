"""How the advisor reads logs: compressed, rolled, cut off, damaged; and their metrics."""

from __future__ import annotations

import gzip
import json
import struct
import sys
from pathlib import Path
from typing import Any

import pytest
import thetajoin
from thetajoin.__main__ import main
from thetajoin._advisor import events, logs

LINES = [b'{"Event":"%d"}' % n for n in range(5000)]
TEXT = b"\n".join(LINES) + b"\n"


def lz4_blocks(data: bytes, *, stored: bool) -> bytes:
    """The data as LZ4BlockOutputStream writes it, in two blocks and an empty one."""
    block = pytest.importorskip("lz4.block")
    found = b""
    for part in (data[:1000], data[1000:], b""):
        packed = part if stored or not part else block.compress(part, store_size=False)
        method = 0x10 if stored or not part else 0x20
        found += struct.pack("<8sBiii", b"LZ4Block", method | 6, len(packed), len(part), 0) + packed
    return found


def packed(codec: str) -> bytes:
    if codec == "zstd":
        zstandard = pytest.importorskip("zstandard")
        whole = zstandard.ZstdCompressor()
        return whole.compress(TEXT[:1000]) + whole.compress(TEXT[1000:])  # type: ignore[no-any-return]
    if codec.startswith("lz4"):
        return lz4_blocks(TEXT, stored=codec == "lz4 stored")
    return gzip.compress(TEXT) if codec == "gzip" else TEXT


@pytest.mark.parametrize("codec", ["plain", "zstd", "lz4", "lz4 stored", "gzip"])
def test_a_log_is_read_by_its_content_and_not_its_name(tmp_path: Path, codec: str) -> None:
    log = tmp_path / "renamed"
    log.write_bytes(packed(codec))
    assert list(logs.lines(log)) == LINES


@pytest.mark.parametrize("codec", ["plain", "zstd", "lz4"])
def test_a_log_that_is_cut_off_gives_its_whole_lines(tmp_path: Path, codec: str) -> None:
    log = tmp_path / "app-1.inprogress"
    whole = packed(codec)
    log.write_bytes(whole[: len(whole) * 3 // 4])
    found = list(logs.lines(log))
    assert found[:50] == LINES[:50]
    assert len(found) < len(LINES)


@pytest.mark.parametrize(
    ("start", "codec"), [(b"\x82SNAPPY\x00", "snappy"), (b"ZV\x01\x00", "lzf")]
)
def test_a_codec_that_is_not_read_is_named(tmp_path: Path, start: bytes, codec: str) -> None:
    log = tmp_path / "app-1"
    log.write_bytes(start + bytes(100))
    with pytest.raises(thetajoin.AdviseError, match=f"with {codec}"):
        list(logs.lines(log))


@pytest.mark.parametrize("codec", ["zstd", "lz4"])
def test_a_damaged_log_is_an_error(tmp_path: Path, codec: str) -> None:
    log = tmp_path / "app-1"
    whole = packed(codec)
    log.write_bytes(whole[:40] + bytes(len(whole) - 40))
    with pytest.raises(thetajoin.AdviseError, match="can't be unpacked"):
        list(logs.lines(log))


@pytest.mark.parametrize(("codec", "package"), [("zstd", "zstandard"), ("lz4", "lz4")])
def test_a_missing_package_is_named(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    codec: str,
    package: str,
) -> None:
    log = tmp_path / "app-1"
    log.write_bytes(packed(codec))
    for name in ("zstandard", "lz4", "lz4.block"):
        monkeypatch.setitem(sys.modules, name, None)
    assert main(["advise", str(log)]) == 1
    told = capsys.readouterr().err
    assert f"package {package} is not installed" in told
    assert f"\nHint: pip install 'thetajoin[advise]', or pip install {package}." in told


def rolled(folder: Path, *parts: str) -> Path:
    log = folder / "eventlog_v2_app-1"
    log.mkdir()
    (log / "appstatus_app-1").touch()
    for part in parts:
        (log / part).write_bytes(part.encode() + b"\n")
    return log


def test_parts_of_a_rolled_log_are_read_by_their_numbers(tmp_path: Path) -> None:
    log = rolled(tmp_path, "events_10_app-1", "events_9_app-1", "events_2_app-1.zstd")
    assert [line.split(b"_")[1] for line in logs.lines(log)] == [b"2", b"9", b"10"]


def test_a_compacted_part_stands_for_all_before_it(tmp_path: Path) -> None:
    log = rolled(tmp_path, "events_1_a", "events_2_a", "events_2_a.compact", "events_3_a")
    assert list(logs.lines(log)) == [b"events_2_a.compact", b"events_3_a"]


def test_a_folder_stands_for_its_logs(tmp_path: Path) -> None:
    log = rolled(tmp_path, "events_1_app-1")
    (tmp_path / "app-2").write_bytes(TEXT)
    (tmp_path / ".crc").touch()
    assert logs.find_logs([tmp_path]) == [tmp_path / "app-2", log]


def test_no_log_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(thetajoin.AdviseError, match="no such log"):
        logs.find_logs([tmp_path / "none"])
    with pytest.raises(thetajoin.AdviseError, match="no event log in the folder"):
        logs.find_logs([tmp_path])
    with pytest.raises(thetajoin.AdviseError, match="rolled log is empty"):
        list(logs.lines(rolled(tmp_path)))


def stage(number: int, *accumulables: tuple[int, str, Any]) -> bytes:
    names = ("ID", "Name", "Value")
    info = {
        "Stage ID": number,
        "Submission Time": 1000,
        "Completion Time": 3500,
        "Accumulables": [dict(zip(names, a, strict=True)) for a in accumulables],
    }
    return json.dumps(
        {"Event": "SparkListenerStageCompleted", "Stage Info": info}, separators=(",", ":")
    ).encode()


def test_metrics_are_those_of_the_last_stage_and_the_driver() -> None:
    driver = b'{"Event":"org.apache.spark.sql.execution.ui.SparkListenerDriverAccumUpdates","executionId":0,"accumUpdates":[[8,20],[7,5]]}'
    application = events.read(
        [
            stage(1, (7, "number of output rows", "10"), (1, events.RUN_TIME, 4000)),
            stage(2, (7, "number of output rows", "30"), (2, events.DISK_SPILLED, 9)),
            driver,
            driver.replace(b"[8,20],[7,5]", b"[8,1]"),
            b'{"Event":"SparkListenerLogStart","Spark Version":"4.0.5',
            b'{"Event":"SparkListenerTaskEnd" not JSON, and not read',
        ]
    )
    assert dict(application.metrics) == {7: 35, 8: 21}
    first, second = application.stages
    assert (first.task_seconds, first.completed - first.submitted) == (4.0, 2.5)
    assert (second.task_seconds, second.disk_spilled_bytes) == (0.0, 9)
    assert second.accumulators == {7}
    assert application.unread_lines == 1
