#!/bin/sh
# OPUS-MT made document-level (docs/protocol-real.md): does the next missing thing until nothing is missing.
# May be stopped or killed at any time and started again.
#
#   DOCUMENTS=... CONTRASTIVE=... OPUS=... sh scripts/en-fr.sh
#
# DOCUMENTS is the folder of en-fr-documents, CONTRASTIVE that of LCPT in our format, OPUS the directory of opus-mt-en-fr.
# WORK takes stores and runs, RESULTS what is committed. ONLY=3 stops after three runs,
# RUN='s4to4+cd 1' ONLY=1 carries out that one, UPDATES makes a rehearsal short.
set -eu
: "${DOCUMENTS:?the folder of the parallel text}" "${CONTRASTIVE:?the folder of LCPT}" "${OPUS:?the folder of opus-mt-en-fr}"
WORK=${WORK:-paper-runs/opus-en-fr} RESULTS=${RESULTS:-results/opus-en-fr} ONLY=${ONLY:-1000} NICE=${NICE:-19}
PROCESSES=${PROCESSES:-2} UPDATES=${UPDATES:-120} TOKENS=${TOKENS:-8000} RATE=${RATE:-5e-5} BASE=$WORK/opus-mt
export OMP_NUM_THREADS=1
mkdir -p "$WORK" "$RESULTS"

concatmt() { nice -n "$NICE" python -m concatmt "$@"; }

[ -f "$WORK/items.jsonl" ] || python scripts/en_fr.py data "$DOCUMENTS" "$CONTRASTIVE" "$WORK"
[ -d "$BASE" ] || concatmt convert "$OPUS" --output "$BASE"
[ -d "$WORK/store" ] || concatmt prepare "$WORK/corpus.yaml" --text "$BASE" --output "$WORK/store"

# The model of a run, trained if need be.
make_model() { # SYSTEM SEED RUN
    case $1 in
    opus-mt | plain) ln -sfn "../../opus-mt" "$3/model" ;;
    s4to4-untrained) [ -d "$3/model" ] || concatmt convert "$OPUS" --system s4to4 --separator mean --output "$3/model" ;;
    *)
        [ -d "$3/train/model" ] || nice -n "$NICE" torchrun --nproc-per-node "$PROCESSES" -m concatmt train finetune \
            --init "$BASE" --data "$WORK/store" --system "$1" --seed "$2" --output "$3/train" \
            --set training.precision=bf16 --set training.tuning.separator=mean --set training.tokens_per_update="$TOKENS" \
            --set training.optimiser.learning_rate="$RATE" --set training.batch.tokens=4000 \
            --set training.optimiser.warmup=$((UPDATES / 8)) --set training.max_updates="$UPDATES" \
            --set "training.optimiser.cooldown=[$((UPDATES * 3 / 4)),$UPDATES]" --set training.validate_every=$((UPDATES / 4)) \
            --set training.checkpoint_every=20 --set training.validation_windows=400 --set training.samples.documents=5
        ln -sfn train/model "$3/model"
        cp "$3/train/metrics.jsonl" "$3/metrics.jsonl"
        ;;
    esac
}

# Translations that are there are kept; one that was interrupted goes on.
translate() { # RUN INPUT OUTPUT OPTIONS...
    model=$1/model input=$2 output=$1/$3
    shift 3
    [ -f "$output" ] || concatmt translate "$model" "$input" --output "$output" --resume --length-penalty 1 "$@"
}

# As `translate`, but windows are given to the model as if they were one sentence.
translate_plainly() { # RUN INPUT OUTPUT
    [ -f "$1/$3" ] && return
    python scripts/plain_concatenation.py windows "$2" "$1/windows.$3.jsonl"
    translate "$1" "$1/windows.$3.jsonl" "whole.$3.jsonl" --context 0 --format jsonl --stop best # as generate()
    { printf '%s: ' "$3"; python scripts/plain_concatenation.py cut "$2" "$1/whole.$3.jsonl" "$1/$3" en fr; } >> "$1/lost.txt"
}

# Which of the candidates of contrastive sets a model prefers, with gold context.
prefer() { # RUN SET
    [ -f "$1/prefer.$2.jsonl" ] || concatmt score "$1/model" "$WORK/$2.jsonl" --output "$1/prefer.$2.jsonl"
}

done=0
while [ "$done" -lt "$ONLY" ]; do
    next=${RUN:-$(python scripts/en_fr.py plan "$RESULTS" | sed -n 1p)}
    [ -n "$next" ] || break
    system=${next% *} seed=${next#* }
    run=$WORK/runs/$system-seed$seed
    echo "$(date -u +%FT%TZ) $system, seed $seed"
    mkdir -p "$run"
    make_model "$system" "$seed" "$run"
    if [ "$system" = plain ]; then
        translate_plainly "$run" "$WORK/items.jsonl" items.jsonl
        python scripts/en_fr.py record "$WORK" "$system" "$seed" "$RESULTS"
        continue
    fi
    for items in items foreign; do
        translate "$run" "$WORK/$items.jsonl" $items.jsonl --format jsonl
    done
    for set in lcpt discevalmt-anaphora discevalmt-lexical; do
        prefer "$run" "$set"
    done
    for text in test diabla; do
        translate "$run" "$WORK/$text.en" $text.own.fr
    done
    case $system in
    opus-mt | base) # these see no context anyway
        cp "$run/test.own.fr" "$run/test.none.fr"
        cp "$run/items.jsonl" "$run/alone.jsonl"
        ;;
    *)
        translate "$run" "$WORK/test.en" test.none.fr --context 0
        translate "$run" "$WORK/items.jsonl" alone.jsonl --format jsonl --context 0
        ;;
    esac
    python scripts/en_fr.py record "$WORK" "$system" "$seed" "$RESULTS"
    python scripts/en_fr_report.py "$RESULTS" > "$RESULTS/tables.md"
    done=$((done + 1))
done
