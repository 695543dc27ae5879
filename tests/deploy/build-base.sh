#!/bin/sh
# Usage: build-base.sh NAME. Builds an image like the base of deploy/Containerfile, from Debian's packages and this
# machine's Node.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
debootstrap --variant=minbase --include=ca-certificates bookworm "$folder"
install "$(node -p process.execPath)" "$folder/usr/local/bin/node"
npm=$(npm root --global)/npm
mkdir -p "$folder/usr/local/lib/node_modules"
cp -r "$npm" "$folder/usr/local/lib/node_modules/npm"
ln -s ../lib/node_modules/npm/bin/npm-cli.js "$folder/usr/local/bin/npm"
# Copies this machine's certificates, because it may trust additional ones behind a proxy.
cp /etc/ssl/certs/ca-certificates.crt "$folder/etc/ssl/certs/ca-certificates.crt"
container=$(buildah from --isolation chroot scratch)
buildah add --quiet "$container" "$folder" /
buildah config --env NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt "$container"
buildah commit --quiet --rm "$container" "$1"
