#!/usr/bin/env bash
# build.sh TOOLS OUT: compiles the helper with the tools that get-tools.sh has put into TOOLS. The same sources give the same bytes.
# The file in the repository is built with OpenJDK 17, dx of android-platform-tools 34.0.5, and the classes of Android 6 as a compiler needs them.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
tools=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
find "$here/java" -name '*.java' | LC_ALL=C sort >"$work/sources"
javac -encoding UTF-8 --release 8 -Xlint:-options -Werror -g:none -cp "$tools/android.jar" -d "$work/classes" @"$work/sources"
(cd "$work/classes" && java -cp "$tools/dx.jar" com.android.dx.command.Main --dex --min-sdk-version=26 \
  --output="$work/helper.dex" .)
mv "$work/helper.dex" "$2"
