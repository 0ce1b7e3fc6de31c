"""`corpus import TOOL`: writes a corpus.yaml that can be loaded, and says what became of each parameter."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from corpus_assets.cli.main import app
from corpus_assets.config import load_config
from resources.errors import ConfigError

INPUTS = {
    "dolma": ("tag.yaml", "documents: [d/documents/*.gz]\ntaggers: [c4_v1]\ncolour: blue\n", []),
    "cerebras": (
        "a.yaml",
        "setup: {input_dir: raw, colour: 1}\nprocessing: {tokenizer_type: GPT2Tokenizer, vocab_file: v}\n",
        ["--mode", "LMData_VSL"],
    ),
    "amber": (
        "a.sh",
        "python convert_dataset_hf_refinedpajama_json.py --input_root raw --tokenizer a/b --colour blue",
        [],
    ),
    "slimpajama": ("a.sh", "python main.py raw --colour blue", []),
    "datatrove": ("a.py", "LocalPipelineExecutor(pipeline=[JsonlReader('raw', colour=1), JsonlWriter('out')])", []),
}


@pytest.mark.parametrize("tool", INPUTS)
def test_a_tool(tool: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    name, content, more = INPUTS[tool]
    Path(name).write_text(content)
    arguments = ["import", tool, name, *more]
    shown = CliRunner().invoke(app, arguments, catch_exceptions=False)
    done = CliRunner().invoke(app, [*arguments, "-o", "new.yaml"], catch_exceptions=False)
    assert (shown.exit_code, done.exit_code) == (0, 0)
    lines = done.output.splitlines()
    assert lines[0] == "new.yaml: written"
    assert any(line.startswith("taken over: ") for line in lines)
    assert any(line.startswith("not taken over: ") and "colour" in line and "known here" in line for line in lines)
    assert lines[-1].startswith("then: corpus plan")
    assert lines[-1].endswith("--config new.yaml")
    assert Path("new.yaml").read_text() in shown.output
    config = load_config(Path("new.yaml"))
    assert config.sources or config.datasets
    with pytest.raises(ConfigError, match=r"new\.yaml exists; --force replaces it"):
        CliRunner().invoke(app, [*arguments, "-o", "new.yaml"], catch_exceptions=False)
    assert CliRunner().invoke(app, [*arguments, "-o", "new.yaml", "--force"]).exit_code == 0


@pytest.mark.parametrize("tool", INPUTS)
def test_a_file_that_cannot_be_read_leaves_nothing(tool: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        CliRunner().invoke(
            app, ["import", tool, str(tmp_path / "gone"), "-o", str(tmp_path / "n")], catch_exceptions=False
        )
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "large").write_bytes(b"x" * (5 << 20))
    with pytest.raises(ConfigError, match="valid: at most"):
        CliRunner().invoke(app, ["import", tool, str(tmp_path / "large")], catch_exceptions=False)
