#!/bin/sh
# ctest: labels=long timeout=7200
# A bare Debian 12 with git and make: `make demo`, then `make test`, nothing else typed. Needs root, debootstrap and a
# way to Debian's packages; make test itself does not.
[ "$(id -u)" = 0 ] && command -v debootstrap >/dev/null 2>&1 || { echo "fresh: skipped, needs root and debootstrap"; exit 77; }
exec "$HOB_SOURCE_DIR/scripts/debootstrap-proof"
