#!/bin/sh
# Installs ioco from an archive that `cargo xtask release` made, after checking its sum.
#
#     IOCO_RELEASES=https://HOST/PATH sh install.sh            the newest release for this machine
#     IOCO_RELEASES=/media/usb/dist IOCO_TO=/opt/bin sh install.sh
#
# IOCO_RELEASES is an address or a folder with SHA256SUMS and the archives; IOCO_TO is where the program goes
# (default: ~/.local/bin).
set -eu

say() { printf '%s\n' "$*" >&2; }
stop() { say "error: $*"; exit 1; }

releases=${IOCO_RELEASES:-}
[ -n "$releases" ] || stop "set IOCO_RELEASES to the address or the folder of the releases"
to=${IOCO_TO:-$HOME/.local/bin}

case "$(uname -s)" in
  Linux) system=unknown-linux-gnu ;;
  Darwin) system=apple-darwin ;;
  *) stop "there is no archive for $(uname -s); on Windows use WSL, or cargo install --path crates/cli" ;;
esac
case "$(uname -m)" in
  x86_64 | amd64) machine=x86_64 ;;
  aarch64 | arm64) machine=aarch64 ;;
  *) stop "there is no archive for $(uname -m); use cargo install --path crates/cli" ;;
esac

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM

fetch() {
  case "$releases" in
    http://* | https://*) curl --fail --silent --show-error --location "$releases/$1" -o "$work/$1" ;;
    *) cp "$releases/$1" "$work/$1" ;;
  esac || stop "cannot get $1 from $releases"
}

fetch SHA256SUMS
archive=$(sed -n "s/^[0-9a-f]*  \(ioco-[0-9][^ ]*-$machine-$system\.tar\.gz\)$/\1/p" "$work/SHA256SUMS" | sort -V | tail -n 1)
[ -n "$archive" ] || stop "$releases has no archive for $machine-$system"
fetch "$archive"

cd "$work"
grep " $archive\$" SHA256SUMS > wanted
if command -v sha256sum > /dev/null; then sha256sum -c wanted > /dev/null; else shasum -a 256 -c wanted > /dev/null; fi ||
  stop "$archive is damaged: its sum is not that of SHA256SUMS"

tar xzf "$archive"
mkdir -p "$to"
install -m 755 "${archive%.tar.gz}/ioco" "$to/ioco"
say "installed: $to/ioco ($("$to/ioco" --version))"
case ":$PATH:" in
  *":$to:"*) ;;
  *) say "add it to the search path: export PATH=\"$to:\$PATH\"" ;;
esac
