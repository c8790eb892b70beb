"""The table of speeds on a GPU is made from the rows that were measured."""

import json
import sys
from pathlib import Path

import pytest
from tools import gpu_tables

CARD = {"card": "NVIDIA H200", "torch": "2.11.0", "bf16_tflops": 700.0, "copy_gb_per_s": 4200.0}
ROW = {
    "model": "LSTM-(3,256)", "length": 200, "members": 64, "wanted": 8.0, "precision": "bfloat16",
    "model_steps_per_second": 793.2, "tflops": 96.0, "gb_per_s_at_least": 420.0, "memory_gib": 12.34,
    "baseline_is": "torch.nn.LSTM", "baseline": 40.04, "ratio": 19.81,
}  # fmt: skip


def lines(*records: dict) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def test_a_row_has_its_ratio_and_its_shares_of_the_card():
    text = gpu_tables.page(gpu_tables.read(lines(CARD, ROW)))
    assert "NVIDIA H200 with torch 2.11.0 (700 TFLOP/s" in text
    assert (
        "| LSTM-(3,256) | 200 | 64 | 793 | 40, torch.nn.LSTM | 19.8× | 8× | 96.0 | 14 % | 420 | 10 % | 12.3 |" in text
    )


def test_several_runs_show_lowest_and_highest_and_failed_rows_are_left_out():
    again = {key: value for key, value in ROW.items() if not key.startswith(("baseline", "ratio"))}
    again |= {"model_steps_per_second": 1290.0, "wanted": 0.0}
    failed = {**ROW, "error": "OutOfMemoryError"}
    text = gpu_tables.page(gpu_tables.read(lines(CARD, ROW, failed, CARD, again, {**again, "length": 50})))
    rows = [line for line in text.splitlines() if line.startswith("| LSTM")]
    assert len(rows) == 2
    assert rows[0].startswith("| LSTM-(3,256) | 50 | 64 | 1,290 | – | – | – |")
    assert rows[1].startswith("| LSTM-(3,256) | 200 | 64 | 793 to 1,290 | 40, torch.nn.LSTM | 19.8× | 8× |")


def test_rows_without_a_card_are_refused():
    with pytest.raises(ValueError, match="a row before any card"):
        gpu_tables.read(lines(ROW))


def test_the_page_is_filled_and_the_rows_are_kept(tmp_path: Path, monkeypatch):
    page, measured = tmp_path / "notes.md", tmp_path / "gpu.jsonl"
    page.write_text("<!-- gpu speeds -->\n<!-- end of gpu speeds -->\n", encoding="utf-8")
    measured.write_text(lines(CARD, ROW), encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["gpu_tables", str(measured), "--write", str(page)])
    assert gpu_tables.main() == 0
    monkeypatch.setattr(gpu_tables, "RECORDS", tmp_path / "records")
    assert gpu_tables.kept() in page.read_text(encoding="utf-8")
