#!/bin/sh
# Installs the packages that tests/node/package-lock.json names into build/node. Where that cannot be
# done it says why and succeeds: the tests that need them are then skipped with their own reason.
set -u
cd "$(dirname "$0")/.." || exit 1
from=tests/node
into=build/node

skip() {
  echo "node: $1; tests that run a real host will be skipped" >&2
  exit 0
}

test -f $from/package-lock.json || skip "$from/package-lock.json is not there"
cmp -s $from/package-lock.json $into/.installed && exit 0
command -v npm >/dev/null || skip "npm is not installed"
mkdir -p $into || exit 1
cp $from/package.json $from/package-lock.json $into/ || exit 1
echo "node: installing what $from/package-lock.json locks into $into"
npm ci --prefix $into --no-audit --no-fund --ignore-scripts --loglevel=error \
  --fetch-retries=1 --fetch-timeout=60000 </dev/null >$into/npm.log 2>&1 ||
  skip "npm ci failed ($(grep -m1 'npm error' $into/npm.log || echo "see $into/npm.log"))"
cp $from/package-lock.json $into/.installed
