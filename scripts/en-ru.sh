#!/bin/sh
# The En-Ru systems on real dialogue (docs/protocol-real.md): does the next missing thing until nothing is missing.
# May be stopped or killed at any time and started again.
#
#   DIALOGUE=... VOITA=... CTXPRO=... sh scripts/en-ru.sh [--set KEY=VALUE ...]
#
# DIALOGUE has train, dev and test (.en, .ru, .docs), VOITA the sets of Voita et al. (2019) as JSON, CTXPRO the folders
# evalsets and inputs. WORK takes corpus, store and runs, RESULTS what is committed. ONLY=3 stops after three runs.
set -eu
: "${DIALOGUE:?the folder of the parallel text}" "${VOITA:?the folder of Voita's sets}" "${CTXPRO:?the folder of ctxpro}"
WORK=${WORK:-paper-runs} RESULTS=${RESULTS:-results} ONLY=${ONLY:-1000} NICE=${NICE:-19} ITEMS=${ITEMS:-1000} LIMIT=${LIMIT:-}
NAME=en-ru-dialogue
CORPUS=$WORK/$NAME-corpus
export OMP_NUM_THREADS=1

concatmt() { nice -n "$NICE" python -m concatmt "$@"; }

if [ ! -f "$CORPUS/corpus.json" ]; then
    nice -n "$NICE" python scripts/en_ru_dialogue.py prepare "$DIALOGUE" "$VOITA" "$CTXPRO" "$CORPUS" \
        --items "$ITEMS" ${LIMIT:+--limit "$LIMIT"}
fi

# Every line of the plan is a run without a line of results; the first of them trains the shared start before.
plan() { concatmt paper all --setting $NAME --work "$WORK" --results "$RESULTS" --dry-run --set "corpus.root=$CORPUS" "$@"; }

evaluate() {
    set --
    for model in "$WORK/$NAME"/runs/*/*-seed1/model; do
        [ -d "$model" ] || continue
        run=$(dirname "$model")
        set -- "$@" "$(basename "$(dirname "$run")")=$run"
    done
    # The first is what the others are compared with.
    base=$(printf '%s\n' "$@" | grep '^base=' || true)
    concatmt evaluate ${base:+"$base"} $(printf '%s\n' "$@" | grep -v '^base=') --on "$CORPUS/ctxpro" --on "$CORPUS/voita" \
        --measure generative,perturbation --output "$WORK/$NAME/evaluation"
    cp "$WORK/$NAME/evaluation/evaluation.md" "$WORK/$NAME/evaluation/evaluation.json" "$RESULTS/$NAME/"
}

done=0
while [ "$done" -lt "$ONLY" ]; do
    run=$(plan "$@" | grep '^concatmt paper run' | head -n 1)
    [ -n "$run" ] || break
    echo "$(date -u +%FT%TZ) $run"
    eval "$run"
    python scripts/en_ru_dialogue.py bleu "$RESULTS/$NAME"
    evaluate
    done=$((done + 1))
done
