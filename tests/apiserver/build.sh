#!/usr/bin/env bash
# Builds the API server for the tests into .cache/bin, where its sources have changed. Minutes the first time.
. "$(dirname "$0")/../../scripts/lib.sh"
if done_before apiserver tests/apiserver && [ -x .cache/bin/muster-apiserver ]; then exit 0; fi
mkdir -p .cache/bin
(cd tests/apiserver && CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o ../../.cache/bin/muster-apiserver .)
remember_done apiserver tests/apiserver
