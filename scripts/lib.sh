# Shared by the scripts: where things are, how progress is told, what is installed where.
# Sourced, never run. Everything the project installs for itself goes below .cache, except system packages.

set -euo pipefail

MUSTER_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
MUSTER_CACHE="$MUSTER_ROOT/.cache"
export MUSTER_ROOT MUSTER_CACHE
cd "$MUSTER_ROOT"

started_at=$SECONDS

say() { printf '\n\033[1m[%4ds] %s\033[0m\n' "$((SECONDS - started_at))" "$*"; }
fail() {
  printf '\n\033[1;31mStopped: %s\033[0m\n' "$*" >&2
  exit 1
}
have() { command -v "$1" >/dev/null 2>&1; }

os() {
  case "$(uname -s)" in
    Linux) echo linux ;;
    Darwin) echo macos ;;
    *) echo other ;;
  esac
}

# as_root CMD...: runs it as root, by sudo where we are not.
as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; elif have sudo; then sudo "$@"; else
    fail "these need root and there is no sudo; run as root: $*"
  fi
}

# install_debian PACKAGE...: installs what is missing of them, and nothing where all are there.
install_debian() {
  local missing=() package
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  say "Installing system packages: ${missing[*]}"
  as_root apt-get update -qq
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# done_before NAME INPUT...: true where NAME was made from exactly these files' contents.
done_before() {
  local name=$1 stamp
  shift
  stamp="$MUSTER_CACHE/stamps/$name"
  [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$(fingerprint "$@")" ]
}

remember_done() {
  local name=$1
  shift
  mkdir -p "$MUSTER_CACHE/stamps"
  fingerprint "$@" >"$MUSTER_CACHE/stamps/$name"
}

fingerprint() {
  local path
  for path in "$@"; do
    if [ -d "$path" ]; then find "$path" -type f -not -path '*/node_modules/*' -print0 | sort -z | xargs -0 cat; else cat "$path"; fi
  done | if have sha256sum; then sha256sum; else shasum -a 256; fi | cut -d' ' -f1
}
