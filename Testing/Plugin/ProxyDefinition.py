# SPDX-License-Identifier: BSD-3-Clause
"""The proxies' XML: everything documented; same defaults as the filter and as ParaView's own."""
import re

from checks import *

# What ParaView's proxies have and ours leave out on purpose: cells are found by walking, and seeds
# are never copied to all ranks.
LEFT_OUT = {"InterpolatorType", "UseLocalSeedSource"}

load_plugin()
manager = servermanager.ProxyManager()


def properties(proxy):
    found = {}
    iterator = proxy.NewPropertyIterator()
    iterator.Begin()
    while not iterator.IsAtEnd():
        found[iterator.GetKey()] = iterator.GetProperty()
        iterator.Next()
    return found


def defaults(property_):
    if not hasattr(property_, "GetDefaultValue"):
        return None
    return [property_.GetDefaultValue(i) for i in range(property_.GetNumberOfElements())]


def text(documented):
    documentation = documented.GetDocumentation()
    return (documentation.GetDescription() or "").strip() if documentation else ""


pairs = (("AsyncStreamTracer", "StreamTracer"),
         ("AsyncStreamTracerWithCustomSource", "ArbitrarySourceStreamTracer"),
         ("AsyncConnectivity", "PVConnectivityFilter"),
         ("AsyncFeatureTracker", None),  # ParaView has none
         ("AsyncConvectionDiffusion", None),
         ("AsyncHarmonicFill", None))
for ours, theirs in pairs:
    proxy = manager.GetPrototypeProxy("filters", ours)
    expect(proxy is not None, "there is a proxy " + ours)
    expect(len(text(proxy)) > 100, ours + " is documented")
    expect(len(proxy.GetDocumentation().GetShortHelp()) > 20, ours + " has a short help")
    mine = properties(proxy)
    for name, property_ in mine.items():
        expect(len(text(property_)) > 20, "%s.%s is documented" % (ours, name))

    same = properties(manager.GetPrototypeProxy("filters", theirs)) if theirs else {}
    for name, property_ in same.items():
        if name in LEFT_OUT:
            continue
        expect(name in mine, "%s has ParaView's property %s" % (ours, name))
        expect(mine[name].GetXMLLabel() == property_.GetXMLLabel(),
               "%s.%s has ParaView's label" % (ours, name))
        expect(defaults(mine[name]) == defaults(property_),
               "%s.%s has ParaView's default %s, not %s"
               % (ours, name, defaults(property_), defaults(mine[name])))

UNLIKE = {"Input", "Source", "TimestepValues"}

# Proxies of the bare classes, to which no default of the XML is sent.
BARE = ("AsyncStreamTracer", "AsyncConnectivity", "AsyncFeatureTracker",
        "AsyncConvectionDiffusion", "AsyncHarmonicFill")
manager.LoadConfigurationXML("<ServerManagerConfiguration><ProxyGroup name='filters'>" + "".join(
    """<SourceProxy name="Bare%s" class="vtk%s">
    <InputProperty name="Input" command="AddInputConnection"/>
  </SourceProxy>""" % (name, name) for name in BARE) + "</ProxyGroup></ServerManagerConfiguration>")


def printed(name):
    """Member: value, of the VTK object behind a new proxy, as it prints itself."""
    proxy = manager.NewProxy("filters", name)
    proxy.UpdateVTKObjects()
    lines = str(proxy.GetClientSideObject()).splitlines()
    return dict(re.match(r"\s*(.*?): *(.*)", line).groups() for line in lines if ":" in line)


for name, least in zip(BARE, (24, 20, 18, 30, 12)):
    bare, sent = printed("Bare" + name), printed(name)
    compared = 0
    for member in properties(manager.GetPrototypeProxy("filters", name)):
        member = re.sub("[^A-Za-z]", "", member)
        if member in UNLIKE or member.startswith("Select"):
            continue
        spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", member)
        key = member if member in bare else spaced
        expect(key in bare, "the filter prints " + member)
        # A default that depends on the input is before there is one what the XML says.
        expect(bare[key] == sent[key], "the filter's default of %s is the proxy's: %s, not %s"
               % (member, bare[key], sent[key]))
        compared += 1
    expect(compared >= least, "defaults of %s were compared" % name)

# The detectors that the XML offers are those that the filter takes, which it names when it gets
# another one.
detectors = manager.GetPrototypeProxy("internal_filters", "AsyncAlgorithm").GetProperty("Detector")
offered = detectors.GetDomain("list")
offered = {offered.GetString(i) for i in range(offered.GetNumberOfStrings())}
regions = load_plugin()["AsyncConnectivity"](Input=Wavelet(), Detector="none of these")
said = []


def keep(caller, event, text):
    said.append(text)


keep.CallDataType = "string0"
regions.SMProxy.UpdateVTKObjects()
regions.GetClientSideObject().AddObserver("ErrorEvent", keep)
regions.UpdatePipeline()
expect(len(said) == 1 and "Detector is none of these" in said[0], "the error: %s" % said)
taken = set(re.findall('"([^"]*)"', said[0]))
expect(taken == offered, "the XML offers %s, the filter takes %s" % (sorted(offered), sorted(taken)))

# Lists of pairs are given as such by the array that is there: the client's panel ends otherwise.
arrays = Wavelet()
arrays.UpdatePipeline()
lists = 0
for ours in ("AsyncConnectivity", "AsyncFeatureTracker"):
    for name, property_ in properties(load_plugin()[ours](Input=arrays).SMProxy).items():
        if property_.IsA("vtkSMVectorProperty") and property_.GetRepeatCommand():
            lists += 1
            expect(property_.GetNumberOfElements() % property_.GetNumberOfElementsPerCommand() == 0,
                   "%s.%s has whole rows" % (ours, name))
expect(lists > 3, "lists were looked at")
print("passed")
