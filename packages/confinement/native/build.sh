#!/bin/sh
# Builds the launcher for this architecture, or for the one of CC's compiler:
#   native/build.sh native/confine-linux-x64
#   CC=aarch64-linux-gnu-gcc native/build.sh native/confine-linux-arm64
# The same compiler gives the same bytes. The files in the repository are those of Debian 12's gcc 12.2.
set -eu
here=$(dirname "$0")
exec "${CC:-gcc}" -std=c11 -Wall -Wextra -Werror -Os -static -nostdlib -ffreestanding -fno-builtin \
  -fno-stack-protector -fno-asynchronous-unwind-tables -fno-pie -no-pie \
  -Wl,--build-id=none,-z,noseparate-code,-z,noexecstack,-s -o "$1" "$here/confine.c"
