#!/usr/bin/env bash
# get-tools.sh FOLDER: what build.sh needs besides OpenJDK 17: dx, which is in no package but in the source of one, and Android's classes.
# Needs root, apt with Debian's archive and a JDK.
set -euo pipefail
tools=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/{lists/partial,cache/archives/partial,parts,got,classes,tools}
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -v security | head -1)
signed="signed-by=/usr/share/keyrings/debian-archive-keyring.gpg"
printf 'deb-src [%s] %s trixie main\ndeb [%s] %s sid main\n' "$signed" "$mirror" "$signed" "$mirror" >"$work/parts/tools.list"
cat >"$work/apt.conf" <<CONF
Dir::Etc::sourcelist "/dev/null";
Dir::Etc::sourceparts "$work/parts";
Dir::State::lists "$work/lists";
Dir::Cache "$work/cache";
APT::Sandbox::User "root";
CONF
apt-get -qq -c "$work/apt.conf" update
cd "$work/got"
apt-get -qq -c "$work/apt.conf" download libandroid-23-java/sid
apt-get -qq -c "$work/apt.conf" source --download-only android-platform-tools/trixie
tar xf android-platform-tools_*.orig.tar.xz --wildcards '*/dalvik/dx/src/*'
dpkg -x libandroid-23-java_*.deb .
find . -path '*dalvik/dx/src*' -name '*.java' >"$work/sources"
javac -encoding UTF-8 -nowarn -source 8 -target 8 -d "$work/classes" @"$work/sources" 2>/dev/null
jar cf "$work/tools/dx.jar" -C "$work/classes" .
cp usr/share/java/com.android.android-23.jar "$work/tools/android.jar"
# All at once: what is there is whole.
mkdir -p "$(dirname "$tools")"
rm -rf "$tools"
mv "$work/tools" "$tools"
