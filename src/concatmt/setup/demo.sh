#!/bin/sh
# The story that `concatmt demo` tells, each command as a user would type it. Running it again resumes.
# FOLDER is where everything goes; with QUICK the models are hardly trained.
set -eu
say() { printf '\n\033[1m$ %s\033[0m\n' "$*"; "$@"; }
tell() { printf '\n\033[1m# %s\033[0m\n' "$*"; }
systems="base s4to4+cd s4to4+cd+lrn+pers+pse"
runs=$FOLDER/runs
if [ -n "${QUICK:-}" ]; then
    documents=1000 base="[20,30]" context="[20,30]" every=30
else
    documents=20000 base="[700,1000]" context="[1400,2000]" every=250
fi
# Smaller and fewer updates than the preset has. Half of them are enough for sentences.
small="--set training.tokens_per_update=1280 --set training.batch.tokens=640
    --set training.optimiser.learning_rate=4e-3 --set training.validate_every=$every"

tell "The discourse testbed: documents in which some sentences need another one"
say concatmt testbed --pair en-ru --output "$FOLDER/testbed" --seed 1 --documents $documents --density 1 \
    --scenes 1 --around 0 --length 0.3 --items 200 --test-documents 200
say concatmt prepare miniature --set "corpus.root=$FOLDER/testbed" --output "$FOLDER/data"

tell "Two windows, as a model sees them: k is a sentence's place, counted from the current one"
say concatmt inspect show "$FOLDER/data" --first 3 --count 2

tell "A sentence-level model, one that sees four sentences, and one that also knows which is which"
export OMP_NUM_THREADS=1
for system in $systems; do
    test "$system" = base && cooldown=$base || cooldown=$context
    updates=${cooldown#*,}
    # shellcheck disable=SC2086  # several words
    say torchrun --nproc-per-node 2 -m concatmt train miniature --data "$FOLDER/data" --system "$system" \
        --output "$runs/$system" $small --set "training.optimiser.cooldown=$cooldown" \
        --set "training.max_updates=${updates%]}"
done
unset OMP_NUM_THREADS

tell "Documents, translated without and with context; the words that differ are marked"
head -n 40 "$FOLDER/testbed/test.en" > "$FOLDER/input.en"
for system in $systems; do
    say concatmt translate "$runs/$system/model" "$FOLDER/input.en" --output "$FOLDER/$system.ru"
done
say concatmt inspect compare "$FOLDER/input.en" "$FOLDER/base.ru" "$FOLDER/s4to4+cd.ru" \
    "$FOLDER/s4to4+cd+lrn+pers+pse.ru" --differing

tell "Which translation is right? The sentence-level model can only guess"
say concatmt evaluate "base=$runs/base" "s4to4+cd=$runs/s4to4+cd" \
    "s4to4+cd+lrn+pers+pse=$runs/s4to4+cd+lrn+pers+pse" --on "$FOLDER/testbed" \
    --output "$FOLDER/evaluation" --measure contrastive --measure quality

tell "The report, with plots: $FOLDER/evaluation/evaluation.html"
tell "Next, your own corpus, a folder with train.en and train.de, TMX, TSV or JSONL:
#   concatmt init FOLDER
# looks at it and at this machine, and prints the commands to go on with the time that each will take."
