#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# pvserver on 3 ranks and a Python client that loads the plugin on both sides and traces there.
# Server.sh <mpirun> <pvserver> <pvpython>
set -eu
here=$(dirname -- "$0")
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("", 0)); print(s.getsockname()[1])')
"$1" --oversubscribe --bind-to none -n 3 "$2" --server-port="$port" &
server=$!
trap 'kill $server 2>/dev/null || true' EXIT
"$3" "$here/Server.py" "$port"
# The server ends when its client disconnects.
wait $server
trap - EXIT
