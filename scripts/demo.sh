#!/bin/sh
# The story that `make demo` tells, each command as a user would type it. Running it again resumes.
set -eu
say() { printf '\n\033[1m$ %s\033[0m\n' "$*"; "$@"; }
tell() { printf '\n\033[1m# %s\033[0m\n' "$*"; }
systems="base s4to4+cd s4to4+cd+lrn+pers+pse"
runs=demo/runs
# Smaller and fewer updates than the preset has. Half of them are enough for sentences.
small="--set training.tokens_per_update=1280 --set training.batch.tokens=640
    --set training.optimiser.learning_rate=4e-3 --set training.validate_every=250"
shorter="--set training.optimiser.cooldown=[700,1000] --set training.max_updates=1000"
short="--set training.optimiser.cooldown=[1400,2000] --set training.max_updates=2000"

tell "A few documents of our own, as a model sees them"
say concatmt prepare examples/sample/sample.yaml --output demo/sample
say concatmt inspect show demo/sample --first 2 --count 1

tell "The discourse testbed: documents in which some sentences need another one"
say concatmt testbed --pair en-ru --output demo/testbed --seed 1 --documents 20000 --density 1 \
    --scenes 1 --around 0 --length 0.3 --items 200 --test-documents 200
say concatmt prepare miniature --set corpus.root=demo/testbed --output demo/data

tell "A sentence-level model, one that sees four sentences, and one that also knows which is which"
export OMP_NUM_THREADS=1
for system in $systems; do
    test "$system" = base && length=$shorter || length=$short
    # shellcheck disable=SC2086  # several words
    say torchrun --nproc-per-node 2 -m concatmt train miniature --data demo/data --system "$system" \
        --output "$runs/$system" $small $length
done
unset OMP_NUM_THREADS

tell "Documents, translated without and with context; the words that differ are marked"
head -n 40 demo/testbed/test.en > demo/input.en
for system in $systems; do
    say concatmt translate "$runs/$system/model" demo/input.en --output "demo/$system.ru"
done
say concatmt inspect compare demo/input.en demo/base.ru demo/s4to4+cd.ru demo/s4to4+cd+lrn+pers+pse.ru \
    --differing

tell "Which translation is right? The sentence-level model can only guess"
say concatmt evaluate base=$runs/base s4to4+cd=$runs/s4to4+cd \
    s4to4+cd+lrn+pers+pse=$runs/s4to4+cd+lrn+pers+pse --on demo/testbed --output demo/evaluation \
    --measure contrastive --measure quality

tell "The report, with plots: demo/evaluation/evaluation.html"
tell "Next, your own corpus: copy examples/sample/sample.yaml, put your files in it, then
#   concatmt prepare my.yaml --output data
#   concatmt train my.yaml --data data --system s4to4+cd --output runs/mine
#   concatmt translate runs/mine/model talk.en --output talk.de"
