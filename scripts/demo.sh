#!/bin/sh
# The story that `make demo` tells, each command as a user would type it.
set -eu
say() { printf '\n\033[1m$ %s\033[0m\n' "$*"; "$@"; }
tell() { printf '\n\033[1m# %s\033[0m\n' "$*"; }

tell "A few documents of our own, as the model will see them"
say concatmt prepare examples/sample/sample.yaml --output demo/sample
say concatmt show demo/sample --first 2 --count 1

tell "The discourse testbed: documents in which some sentences need another one"
say concatmt testbed --pair en-ru --output demo/testbed --seed 1 --documents 4000 --density 1
say cat demo/testbed/card.md
tell "Two of its documents, side by side"
paste demo/testbed/test.en demo/testbed/test.ru |
    awk -F'\t' '$1 == "" { if (++n == 2) exit; print ""; next } { printf "%-72s %s\n", $1, $2 }'
say concatmt prepare testbed --set corpus.root=demo/testbed --output demo/data
