#!/bin/sh
# The story that `make demo` tells, each command as a user would type it. Running it again resumes.
set -eu
say() { printf '\n\033[1m$ %s\033[0m\n' "$*"; "$@"; }
tell() { printf '\n\033[1m# %s\033[0m\n' "$*"; }
runs=demo/runs
model() { echo "$runs/$1/rate0.003-seed1/model"; }

tell "A few documents of our own, as a model sees them"
say concatmt prepare examples/sample/sample.yaml --output demo/sample
say concatmt show demo/sample --first 2 --count 1

tell "The discourse testbed: documents in which some sentences need another one"
say concatmt testbed --pair en-ru --output demo/testbed --seed 1 --documents 8000 --density 1
say cat demo/testbed/card.md
tell "One of its documents, side by side"
paste demo/testbed/test.en demo/testbed/test.ru |
    awk -F'\t' '$1 == "" { exit } { printf "%-60s %s\n", $1, $2 }'
say concatmt prepare testbed --set corpus.root=demo/testbed --output demo/data

tell "A sentence-level model and one that sees four sentences, side by side (a few minutes)"
say concatmt sweep testbed --data demo/data --system base --system s4to4+cd --output "$runs" \
    --rates 3e-3 --jobs 2 --set training.max_updates=1500

tell "Which translation is right? The sentence-level model can only guess"
for system in base s4to4+cd; do
    say concatmt contrast "$(model "$system")" demo/testbed/contrastive/*.jsonl \
        --output "demo/$system.items.jsonl"
done

tell "Documents in, the same number of lines out"
head -n 12 demo/testbed/test.en > demo/input.en
say concatmt translate "$(model s4to4+cd)" demo/input.en --output demo/output.ru
paste demo/input.en demo/output.ru | awk -F'\t' '{ printf "%-60s %s\n", $1, $2 }'
