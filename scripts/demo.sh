#!/bin/sh
# The story that `make demo` tells, each command as a user would type it.
set -eu
say() { printf '\n\033[1m$ %s\033[0m\n' "$*"; "$@"; }

say concatmt prepare examples/sample/sample.yaml --output demo/sample
say concatmt stats demo/sample
say concatmt show demo/sample --first 1 --count 3
