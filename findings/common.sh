# Sourced by each finding: a temporary folder, packages in it, and the comparison of the output.

set -euo pipefail
shopt -s nullglob

here=$(cd "$(dirname "$0")" && pwd)
finding=$here/$(basename "$0")
work=$(mktemp -d)
chmod 755 "$work"
trap 'status=$?; jobs -p | xargs -r kill 2>/dev/null; rm -rf "$work"; exit $status' EXIT
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore PYTHONDONTWRITEBYTECODE=1
export PYTHONPATH=$here
unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY all_proxy ALL_PROXY
python=python3

# debian NAME=VERSION…: unpacked below $work/system, not installed; the system stays as it is.
debian() {
    mkdir -p "$work/archives/partial"
    apt-get install -qq -y --no-install-recommends --allow-downgrades --reinstall --download-only \
        -o Dir::Cache::archives="$work/archives" -o Debug::NoLocking=1 "$@" >"$work/apt.log" 2>&1 ||
        { cat "$work/apt.log"; exit 2; }
    local archive
    for archive in "$work"/archives/*.deb; do dpkg-deb -x "$archive" "$work/system"; done
    local libraries
    libraries=$(find "$work/system" -name '*.so*' -printf '%h\n' | sort -u | paste -sd:)
    export ROOT=$work/system LD_LIBRARY_PATH=$libraries PATH=$work/system/usr/sbin:$work/system/usr/bin:$PATH
}

# pypi NAME==VERSION…: an environment of its own.
pypi() {
    python3 -m venv "$work/venv"
    "$work/venv/bin/pip" install -qq "$@" >"$work/pip.log" 2>&1 || { tail -5 "$work/pip.log"; exit 2; }
    python=$work/venv/bin/python
    export PATH=$work/venv/bin:$PATH
}

# npm NAME@VERSION…: a folder node_modules of its own.
npm_packages() {
    (cd "$work" && npm install --silent --no-audit --no-fund --ignore-scripts "$@" >"$work/npm.log" 2>&1) ||
        { tail -5 "$work/npm.log"; exit 2; }
    export NODE_PATH=$work/node_modules
}

# Compare standard input with the lines below "Output:" at the head of the script.
confirm() {
    sed -n '/^# Output:$/,/^[^#]/s/^#   //p' "$finding" >"$work/expected"
    cat >"$work/seen"
    if diff -u --label expected "$work/expected" --label seen "$work/seen"; then
        echo "as described: $(basename "$finding" .sh)"
    else
        echo "the behaviour has changed: $(basename "$finding" .sh)" >&2
        exit 1
    fi
}
