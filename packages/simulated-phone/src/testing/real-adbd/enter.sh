#!/usr/bin/env bash
# Usage: enter.sh ROOT FOLDER. Runs adbd as the shell user in ROOT, in separate namespaces, with the phone's own data
# from FOLDER.
set -euo pipefail
base=$1
own=$2
root=$own/root
mkdir -p "$root" "$own"/data/local/tmp "$own/sdcard"
chmod 777 "$own/data/local/tmp" "$own/sdcard"
mount --bind "$base" "$root"
mount -o remount,ro,bind "$root"
mount --bind "$own/data" "$root/data"
mount --bind "$own/sdcard" "$root/sdcard"
mount -t proc proc "$root/proc"
mount -t tmpfs tmpfs "$root/tmp"
mount -t tmpfs tmpfs "$root/dev"
for device in null zero urandom random tty; do
  touch "$root/dev/$device"
  mount --bind "/dev/$device" "$root/dev/$device"
done
mkdir "$root/dev/pts"
mount -t devpts -o newinstance,ptmxmode=0666,mode=0666 devpts "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
exec env -i PATH=/system/bin LD_PRELOAD=/system/properties.so ADBD_PORT=5555 TMPDIR=/data/local/tmp \
  ANDROID_DATA=/data ANDROID_ROOT=/system EXTERNAL_STORAGE=/sdcard \
  "$(command -v chroot)" --userspec=2000:2000 "$root" /usr/lib/android-sdk/platform-tools/adbd
