# SPDX-License-Identifier: BSD-3-Clause
"""A client of pvserver connects to the running example by Catalyst Live, and receives the data of two filters.

    pvpython Live.py <mpirun> <pvserver> <VortexStreet> <folder>

Environment: TRIBUTARY_PLUGIN, TRIBUTARY_SOURCE.
"""

import os
import shutil
import socket
import subprocess
import sys
import time

from paraview import live
from paraview.simple import *

WANTED = ("streamlines", "map")  # registration names in the script
SECONDS = 600


def free_port():
    with socket.socket() as sock:
        sock.bind(("", 0))
        return sock.getsockname()[1]


def connect(port):
    for attempt in range(SECONDS):
        try:
            return Connect("localhost", port)
        except RuntimeError:
            time.sleep(1)
    sys.exit("no connection to pvserver")


class Client:
    """Extracts the wanted sources when the simulation connects, and notes what arrives."""

    def __init__(self, link):
        self.link = link
        self.extracts = {}
        self.received = {name: [] for name in WANTED}
        link.AddObserver("ConnectionCreatedEvent", lambda *_: self.extract())
        link.AddObserver("UpdateEvent", lambda *_: self.note())

    def extract(self):
        """Sources are known once the simulation has executed the script."""
        manager = self.link.GetInsituProxyManager()
        for name in WANTED:
            if name not in self.extracts and manager.GetProxy("sources", name):
                self.extracts[name] = live.ExtractCatalystData(self.link, name)

    def note(self):
        self.extract()
        for name, source in self.extracts.items():
            source.UpdatePipeline()
            self.received[name].append(source.GetDataInformation().GetNumberOfPoints())


def simulate(mpirun, program, folder, port):
    source = os.environ["TRIBUTARY_SOURCE"]
    flow = {"reynolds": 60, "velocity": 0.1, "resolution": 6, "length": 10, "layers": 3, "every": 15, "outputs": 12}
    command = [mpirun, "--oversubscribe", "--bind-to", "none", "-n", "2", program, "--folder", folder,
               "--script", os.path.join(source, "Examples", "InSitu", "pipeline.py")]
    for option, value in flow.items():
        command += ["--" + option, str(value)]
    return subprocess.Popen(command, env={**os.environ, "LIVE": f"localhost:{port}"})


def main(mpirun, pvserver, program, folder):
    shutil.rmtree(folder, ignore_errors=True)
    port, live_port = free_port(), free_port()
    server = subprocess.Popen([pvserver, f"--server-port={port}"])
    simulation = None
    try:
        connect(port)
        client = Client(live.ConnectToCatalyst("localhost", live_port))
        simulation = simulate(mpirun, program, folder, live_port)
        end = time.monotonic() + SECONDS
        while simulation.poll() is None and time.monotonic() < end:
            live.ProcessServerNotifications()
            time.sleep(0.02)
        print(client.received, flush=True)
        status = simulation.poll()
    finally:
        for process in (simulation, server):
            if process and process.poll() is None:
                process.kill()
    if status != 0:
        sys.exit(f"the simulation ended with {status}")
    for name, counts in client.received.items():
        if len([count for count in counts if count > 0]) < 3:
            sys.exit(f"{name}: points received: {counts}")
    print("PASSED", flush=True)
    os._exit(0)  # the session of Catalyst does not end by itself


main(*sys.argv[1:])
