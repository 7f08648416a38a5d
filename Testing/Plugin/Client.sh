#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The real client on the real pvserver on 3 ranks, under a virtual X server whose screen is kept in a file. Events as of
# a user choose each filter in the menu and press Apply; macros make the inputs, look at the results and take pictures.
# Client.sh <xvfb-run> <mpirun> <pvserver> <paraview>
set -eu
here=$(cd -- "$(dirname -- "$0")" && pwd)
if [ "$#" -eq 4 ]; then
  work=$TRIBUTARY_OUTPUT/client
  rm -rf "$work"
  mkdir -p "$work"
  exec "$1" -a -s "-screen 0 1280x800x24 -noreset -fbdir $work" sh "$0" "$2" "$3" "$4"
fi

work=$TRIBUTARY_OUTPUT/client
export TRIBUTARY_OUTPUT=$work PYTHONPATH=$here:$here/Client PV_MACRO_PATH=$here/Client/Macros
plugin="--plugin-search-paths=$(dirname -- "$TRIBUTARY_PLUGIN") --plugins=Tributary"
python3 "$here/Client/events.py" >"$work/events.xml"
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("", 0)); print(s.getsockname()[1])')
"$1" --oversubscribe --bind-to none -n 3 "$2" --server-port="$port" $plugin &
server=$!
trap 'kill $server 2>/dev/null || true' EXIT
# A user with no settings, so that the default ones are tested.
HOME=$work "$3" --disable-registry --server-url="cs://localhost:$port" $plugin \
  --test-directory="$work" --test-script="$work/events.xml" --exit
cat "$work/verified"
if [ -e "$work/failed" ]; then
  cat "$work/failed"
  exit 1
fi
# Each case has written a line, and the last macro this one.
for filter in $(python3 -c 'import cases; print(*(case.filter for case in cases.CASES))'); do
  grep -q "^$filter:" "$work/verified"
done
grep -q "^undo" "$work/verified"
