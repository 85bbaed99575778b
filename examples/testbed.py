# %% [markdown]
# # A model that reads its context, in less than a minute
#
# Open this file as a notebook (VS Code, PyCharm and Jupytext know the `# %%` cells) or run it as a
# script: `python examples/testbed.py`. It generates a small corpus, trains two tiny models on it
# and looks at what they do. They are far too small and too short to be good; `make demo` trains
# longer.

# %%
import tempfile
from pathlib import Path

import concatmt
from concatmt.testbed.corpus import write_testbed
from concatmt.testbed.dials import parse_dials

work = Path(tempfile.mkdtemp())

# %% [markdown]
# ## A corpus
# Documents in which some sentences can only be translated with the help of another one.

# %%
dials = parse_dials(
    pair="en-ru",
    documents=400,
    valid_documents=20,
    test_documents=20,
    items=20,
    density=1,
    scenes=1,
    around=0,
)
write_testbed(dials, work / "testbed")
store = concatmt.prepare("miniature", work / "data", settings={"corpus.root": work / "testbed"})
for name, split in store.splits.items():
    print(f"{name}: {len(split.documents) - 1:,} documents")

# %% [markdown]
# ## Two models
# `base` sees one sentence; `s4to4+cd` sees four and cares most about the last of them.

# %%
small = {
    "model.dim": 32,
    "model.encoder": {"layers": 1, "heads": 2, "feed_forward": 64},
    "model.decoder": {"layers": 1, "heads": 2, "feed_forward": 64},
    "training.max_updates": 40,
    "training.optimiser.cooldown": None,
    "training.validate_every": 20,
}
models = {
    system: concatmt.train(
        "miniature", data=work / "data", system=system, output=work / system, settings=small
    )
    for system in ("base", "s4to4+cd")
}

# %% [markdown]
# ## Translations
# A document is a list of sentences; there are as many translations as sentences.

# %%
text = (work / "testbed" / "test.en").read_text(encoding="utf-8")
document = text.split("\n\n")[0].splitlines()
for system, model in models.items():
    translator = concatmt.Translator.load(model)
    for sentence in translator.translate_document(document):
        print(f"{system}: {sentence.source} -> {sentence.text}")

# %% [markdown]
# ## How likely are the right translations, with and without context?

# %%
reference = (work / "testbed" / "test.ru").read_text(encoding="utf-8")
pairs = [
    (source.splitlines(), target.splitlines())
    for source, target in zip(text.split("\n\n"), reference.split("\n\n"), strict=True)
]
scores = concatmt.score(models["s4to4+cd"], pairs, context=[0, 3])
for context in (0, 3):
    tokens = [value for one in scores if one.context == context for value in one.log_probs]
    print(f"context {context}: {sum(tokens) / len(tokens):.3f} nats a token")
