#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Installs the packages of build/packages and uses them. Utilities/package --check runs it in a fresh Debian, as root.
set -eu
cd -- "$(dirname -- "$0")/../.."
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl_vader_single_copy_mechanism=none
install() { apt-get -q -y --no-install-recommends install "$@"; }
ranks() {
  n=$1
  shift
  mpirun --oversubscribe --bind-to none -n "$n" "$@"
}

install ./build/packages/libtributary[0-9]*.deb ./build/packages/paraview-tributary_*.deb
echo "ok: the plugin is installed, with ParaView"
for n in 1 3; do
  ranks "$n" pvbatch Testing/Install/plugin.py
  echo "ok: pvbatch on $n ranks loads the plugin by its name and traces streamlines"
done
pvpython -c "import tributary; tributary.vtkAsyncConnectivity()"
echo "ok: pvpython imports the package tributary"

install ./build/packages/libtributary-dev_*.deb cmake g++ make
version=$(dpkg-query -W -f '${Version}' libtributary-dev)
consumer=$(mktemp -d)
cmake -S Testing/Install -B "$consumer" -DCMAKE_BUILD_TYPE=Release "-DVERSION=$version" -DHEADERS=OFF
cmake --build "$consumer"
ranks 2 "$consumer/Reachable"
ldd "$consumer/Reachable" | grep '/lib.*/libTributaryCore[.]so[.]'
echo "ok: a program is built with libtributary-dev, linked to the shared library, and runs on 2 ranks"

folder=$(dirname "$(dpkg-query -L paraview-tributary | grep -m 1 '/tributary/__init__[.]py$')")
apt-get -q -y remove paraview-tributary
test ! -e /usr/bin/paraview.conf
echo "ok: nothing is left of the plugin in ParaView's list"
test ! -e "$folder"
echo "ok: nothing is left of the package tributary"
