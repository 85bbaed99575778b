"""Evaluation of a model that has learnt nothing: the commands fit together, and it is at chance."""

import json
from pathlib import Path

from tests.conftest import Command
from tests.unit.decoding.models import write_model

TESTBED = ("--documents", "5", "--valid-documents", "2", "--test-documents", "3", "--items", "12")


def test_contrast_translate_and_score_give_files_that_can_be_evaluated(
    concatmt: Command, tmp_path: Path
) -> None:
    write_model(tmp_path / "model", system="s4to4+shift4", dim=16)
    commands = [
        f"testbed --pair en-de --output testbed --tasks tv,pron {' '.join(TESTBED)}",
        "contrast model testbed/contrastive/tv.jsonl --output gold.jsonl",
        "perturb testbed/contrastive/tv.jsonl --context shuffled --output tv.shuffled.jsonl",
        "contrast model tv.shuffled.jsonl --output shuffled.jsonl",
        "evaluate gold.jsonl shuffled.jsonl --output evaluation",
        "translate model testbed/expected.jsonl --format jsonl --beam 1 --output out.jsonl",
        "evaluate out.jsonl --expected testbed/expected.jsonl --output generative",
        "score model testbed/test.en --target testbed/test.de --context 0 --context 3"
        " --output scores.jsonl",
        "context-use scores.jsonl",
    ]
    for command in commands:
        done = concatmt(*command.split())
        assert done.returncode == 0, (command, done.stderr)
    found = json.loads((tmp_path / "evaluation" / "evaluation.json").read_text("utf-8"))
    found = found["contrastive"]
    everything = found["figures"][0]["systems"]
    # The candidates of a twin are the same, and a model without skill cannot tell twins apart.
    assert abs(everything["gold"]["accuracy"] - 0.5) < 0.2
    assert everything["shuffled"]["p_holm"] > 0.05
    assert found["systems"][0]["runs"][0]["signature"]["system"] == "s4to4+shift4"
    [gold, shuffled] = found["log_probs"]
    items = [json.loads(line) for line in (tmp_path / "gold.jsonl").open(encoding="utf-8")][1:]
    sums = [item["current"][item["correct"]][0] for item in items]
    assert abs(gold["estimate"]["value"] - sum(sums) / len(sums)) < 1e-9
    assert shuffled["difference"]["low"] < shuffled["difference"]["value"]
    generative = json.loads((tmp_path / "generative" / "evaluation.json").read_text("utf-8"))
    generative = generative["generative"]
    assert generative["figures"][0]["systems"]["out"]["accuracy"] == 0
