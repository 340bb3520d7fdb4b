#!/usr/bin/env bash
# Prints the python of an environment that has what scripts/docs/requirements.txt names, and makes that environment first where it is absent.
#
# It lies in ${XDG_CACHE_HOME:-~/.cache}/hindsight/tools/documents-<hash>. The hash covers the requirements and the version of Python, so that every
# checkout of the repository shares what is there, and a changed version is a new folder.
set -euo pipefail

folder="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
python="${PYTHON:-/usr/bin/python3}"
tools="${XDG_CACHE_HOME:-$HOME/.cache}/hindsight/tools"

say() { echo "documents: $*" >&2; }

hash="$({ cat "$folder/requirements.txt"; "$python" --version; } | sha256sum | cut -c1-16)"
environment="$tools/documents-$hash"

mkdir -p "$tools"
# Two builds at the same time: the second one waits, and finds it made.
exec 9>"$environment.lock"
flock 9
if [[ ! -f "$environment/complete" ]]; then
  rm -rf "$environment"
  say "installing mkdocs-material into $environment"
  "$python" -m venv "$environment" || { say "error: '$python -m venv' failed; on Debian the package python3-venv is needed"; exit 1; }
  "$environment/bin/pip" install --quiet --disable-pip-version-check --require-hashes --only-binary :all: -r "$folder/requirements.txt" >&2
  touch "$environment/complete"
fi
echo "$environment/bin/python"
