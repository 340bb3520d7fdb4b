#!/usr/bin/env bash
# schemas/release.sh VERSION BUILD_FOLDER: keeps the schemas and a corpus of stored records of a release, against which every later
# build is checked. Run for a new version only; what a published release has stored never changes.
set -euo pipefail
version=${1:?usage: schemas/release.sh VERSION BUILD_FOLDER}
build=${2:?usage: schemas/release.sh VERSION BUILD_FOLDER}
cd "$(dirname "$0")/.."
mkdir -p "schemas/released/$version"
cp schemas/*.fbs "schemas/released/$version/"
rm -rf "tests/schemas/corpus/$version"
"$build/tests/write_corpus" "tests/schemas/corpus/$version"
echo "schemas/released/$version and tests/schemas/corpus/$version: $(ls "tests/schemas/corpus/$version" | wc -l) files"
