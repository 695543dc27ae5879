#!/usr/bin/env bash
# build-root.sh FOLDER: the file system of a phone whose adbd is Debian's, and whose shell is that of the simulated phone.
# Needs root, apt, gcc and g++. adbd is in no release before trixie, so its packages are unpacked and not installed.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
root=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/{lists/partial,cache/archives/partial,parts,debs,root}
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -v security | head -1)
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror trixie main" >"$work/parts/trixie.list"
cat >"$work/apt.conf" <<CONF
Dir::Etc::sourcelist "/dev/null";
Dir::Etc::sourceparts "$work/parts";
Dir::State::lists "$work/lists";
Dir::Cache "$work/cache";
APT::Sandbox::User "root";
CONF
packages="adbd android-libbase android-libboringssl android-libcutils android-liblog libbrotli1 libc6 libgcc-s1
  liblz4-1 libprotobuf32t64 libstdc++6 libsystemd0 libzstd1 libxxhash0 zlib1g libcap2"
apt-get -qq -c "$work/apt.conf" update
# shellcheck disable=SC2086
(cd "$work/debs" && apt-get -qq -c "$work/apt.conf" download $packages)
for deb in "$work"/debs/*.deb; do dpkg -x "$deb" "$work/root"; done

cd "$work/root"
rm -rf usr/share
for link in lib lib64 bin; do ln -sfn "usr/$link" "$link"; done
mkdir -p usr/bin system/bin data sdcard dev proc tmp etc
gcc -O2 -static -o usr/bin/sh "$here/sh.c"
ln -sf /usr/bin/sh system/bin/sh
g++ -O2 -shared -fPIC -o system/properties.so "$here/properties.cpp"
printf 'root:x:0:0::/:/bin/sh\nshell:x:2000:2000::/:/bin/sh\n' >etc/passwd
printf 'root:x:0:\nshell:x:2000:\n' >etc/group
chmod 755 .
# All at once: what is there is whole.
mkdir -p "$(dirname "$root")"
rm -rf "${root%-*}"*
mv "$work/root" "$root"
