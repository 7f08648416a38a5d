#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The real client: a macro makes a flow, events as of a user choose Async Stream Tracer in the menu
# Filters and press Apply, a second macro looks at the result and takes a picture.
# Client.sh <paraview>
set -eu
here=$(cd -- "$(dirname -- "$0")" && pwd)
work=$TRIBUTARY_OUTPUT/client
rm -rf "$work"
mkdir -p "$work"
# A user with no settings, so that the default ones are tested.
HOME=$work PV_MACRO_PATH=$here/Client TRIBUTARY_OUTPUT=$work \
  "$1" --disable-registry \
  --plugin-search-paths="$(dirname -- "$TRIBUTARY_PLUGIN")" --plugins=Tributary \
  --test-directory="$work" --test-script="$here/Client/events.xml" --exit
cat "$work/verified"
test -s "$work/client.png"
