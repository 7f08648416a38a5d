# SPDX-License-Identifier: BSD-3-Clause
# Shared by the scripts in Utilities: where things are, how progress is shown, other Debians.
# shellcheck shell=sh

cd -- "$(dirname -- "$0")/.."
source=$(pwd)
log=$source/build/logs
mkdir -p "$log"

# Open MPI in a container: as root, and more ranks than cores.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_btl_vader_single_copy_mechanism=none

started=$(date +%s)
minutes() { printf '%d:%02d' $(($1 / 60)) $(($1 % 60)); }
elapsed() { minutes $(($(date +%s) - started)); }
say() { printf '\n[%s] %s\n' "$(elapsed)" "$*"; }

# quietly <name> <command...>: output goes to build/logs/<name>.log and is shown if it fails.
quietly() {
  name=$1
  shift
  failure=0
  "$@" >"$log/$name.log" 2>&1 || failure=$?
  [ "$failure" -ne 0 ] || return 0
  cat "$log/$name.log"
  echo "Failed: $*"
  return "$failure"
}

# make_debian <name> <folder> [<package>...]: makes a Debian, or ends the script with the status of Utilities/chroot.
make_debian() {
  name=$1
  shift
  Utilities/chroot make "$@" >"$log/chroot-$name.log" 2>&1 || {
    failure=$?
    tail -n 3 "$log/chroot-$name.log"
    exit "$failure"
  }
}

# in_debian <name> <command...>: runs a command in the Debian in the folder $root.
in_debian() {
  name=$1
  shift
  quietly "$name" Utilities/chroot run "$root" "$@"
}

# Clones share the compiler cache, wherever they are.
export CCACHE_BASEDIR="${CCACHE_BASEDIR:-$source}" CCACHE_NOHASHDIR=1

# configure <preset> [cmake arguments]
configure() {
  preset=$1
  shift
  if command -v ccache >/dev/null; then
    set -- -DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache "$@"
  fi
  quietly "configure-$preset" cmake --preset "$preset" "$@"
}

# build <preset> [cmake --build arguments]: ninja's own progress is shown.
build() {
  preset=$1
  shift
  cmake --build --preset "$preset" -j "$(nproc)" "$@"
}
