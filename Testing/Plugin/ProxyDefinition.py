# SPDX-License-Identifier: BSD-3-Clause
"""The proxies' XML: all properties documented and passed to the filter; same defaults as the filter
and as ParaView's own."""
import re

import MessagesNameLabels
from checks import *

# Properties of ParaView's proxies that ours lack on purpose: cells are located by walking, and seeds
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
    """Of a prototype, whose elements are the defaults; None if it has no elements."""
    if not hasattr(property_, "GetElement"):
        return None
    return [property_.GetElement(i) for i in range(property_.GetNumberOfElements())]


def number(value):
    return "%.10g" % value


def default_text(property_):
    """How the documentation must end, or None where the default depends on the input."""
    for name in ("array_list", "bounds"):
        if property_.GetDomain(name):
            return None
    scope = property_.GetDomain("range")
    if property_.IsA("vtkSMInputProperty") or property_.GetInformationOnly() or (
            scope and scope.IsA("vtkSMBoundsDomain") or scope and scope.IsA("vtkSMArrayRangeDomain")):
        return None
    values = defaults(property_)
    if not values:
        return "Default: empty."
    choices = property_.GetDomain("enum")
    if choices:
        return "Default: %s." % choices.GetEntryTextForValue(values[0])
    if property_.GetDomain("bool"):
        return "Default: %s." % ("on" if values[0] else "off")
    if isinstance(values[0], str):
        return "Default: %s." % (values[0] or "empty")
    if len(values) == 1:
        return "Default: %s." % number(values[0])
    return "Default: (%s)." % ", ".join(map(number, values))


def text(documented):
    documentation = documented.GetDocumentation()
    return (documentation.GetDescription() or "").strip() if documentation else ""


elements = {proxy: properties for proxy, _, properties in MessagesNameLabels.proxies()}
pairs = (("AsyncStreamTracer", "StreamTracer"),
         ("AsyncStreamTracerWithCustomSource", "ArbitrarySourceStreamTracer"),
         ("AsyncConnectivity", "PVConnectivityFilter"),
         ("AsyncFeatureTracker", None),  # ParaView has none
         ("AsyncConvectionDiffusion", None),
         ("AsyncHarmonicFill", None),
         ("AsyncPathTracer", None),  # ParaView has three; see PATHS
         ("AsyncFlowMap", None))
compared_texts = 0
for ours, theirs in pairs:
    proxy = manager.GetPrototypeProxy("filters", ours)
    expect(proxy is not None, "there is a proxy " + ours)
    expect(len(text(proxy)) > 100, ours + " is documented")
    expect(len(proxy.GetDocumentation().GetShortHelp()) > 20, ours + " has a short help")
    mine = properties(proxy)
    for name, property_ in mine.items():
        label = MessagesNameLabels.label_of(elements[ours][name])
        expect(property_.GetXMLLabel() == label, "the label of %s.%s is %s" % (ours, name, label))
        expect(len(text(property_)) > 20, "%s.%s is documented" % (ours, name))
        end = default_text(property_)
        if end is not None:
            compared_texts += 1
            expect(" ".join(text(property_).split()).endswith(end),
                   "the documentation of %s.%s ends with: %s" % (ours, name, end))

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

# Properties of ParaView's filters of particles that the path tracer has with the same defaults. Its terminal speed
# is 0: a particle at rest may move later.
PATHS = ("StaticSeeds", "ForceReinjectionEveryNSteps", "TerminationTime", "ComputeVorticity")
mine = properties(manager.GetPrototypeProxy("filters", "AsyncPathTracer"))
same = properties(manager.GetPrototypeProxy("filters", "ParticlePath"))
for name in PATHS:
    expect(defaults(mine[name]) == defaults(same[name]), "AsyncPathTracer.%s has ParaView's default" % name)

expect(compared_texts > 100, "documented defaults were compared: %d" % compared_texts)

# Each filter is in the menu of the plugin, with an icon.
for ours, _ in pairs:
    hints = manager.GetPrototypeProxy("filters", ours).GetHints()
    places = [hints.GetNestedElement(i) for i in range(hints.GetNumberOfNestedElements())]
    places = [place for place in places if place.GetName() == "ShowInMenu"]
    expect("Tributary" in [place.GetAttribute("category") for place in places], ours + " is in the menu Tributary")
    icons = {place.GetAttribute("icon") for place in places}
    expect(icons == {":/Tributary/%s.png" % ours}, "the icon of %s is %s" % (ours, icons))

# The panel shows properties in the order of the proxy: what switches groups comes first, and groups for experts last.
def order_of(proxy):
    names, iterator = [], servermanager.vtkSMOrderedPropertyIterator()
    iterator.SetProxy(proxy)
    iterator.Begin()
    while not iterator.IsAtEnd():
        names.append(iterator.GetKey())
        iterator.Next()
    return names


for ours, _ in pairs:
    proxy = manager.GetPrototypeProxy("filters", ours)
    last = proxy.GetPropertyGroup(proxy.GetNumberOfPropertyGroups() - 1)
    members = [last.GetProperty(i).GetXMLName() for i in range(last.GetNumberOfProperties())]
    expect("Schedule" in members and order_of(proxy)[-len(members):] == members,
           "%s ends with its group %s: %s" % (ours, last.GetXMLLabel(), order_of(proxy)))
order = order_of(manager.GetPrototypeProxy("filters", "AsyncFeatureTracker"))
expect(order.index("Features") < min(order.index("SelectCriticalField"), order.index("ScalarConnectivity")),
       "Features is above the groups that it switches: %s" % order)

# Solvers have no properties of the exchange, and two schedules.
for solver in ("AsyncConvectionDiffusion", "AsyncHarmonicFill"):
    mine = properties(manager.GetPrototypeProxy("filters", solver))
    for name in ("Arrivals", "Detector", "BatchBytes", "HoldTime", "StallTimeout", "AutoTune", "TimelineFile"):
        expect(name not in mine, "%s has no property %s" % (solver, name))
    schedules = mine["Schedule"].GetDomain("enum")
    schedules = [schedules.GetEntryText(i) for i in range(schedules.GetNumberOfEntries())]
    expect(schedules == ["Synchronous", "Asynchronous"], "schedules of %s: %s" % (solver, schedules))

UNLIKE = {"Input", "Source", "EventSurfaces", "TimestepValues"}

# Proxies of the bare classes, to which no default of the XML is sent.
BARE = ("AsyncStreamTracer", "AsyncConnectivity", "AsyncFeatureTracker",
        "AsyncConvectionDiffusion", "AsyncHarmonicFill", "AsyncPathTracer", "AsyncFlowMap")
manager.LoadConfigurationXML("<ServerManagerConfiguration><ProxyGroup name='filters'>" + "".join(
    """<SourceProxy name="Bare%s" class="vtk%s">
    <InputProperty name="Input" command="AddInputConnection"/>
  </SourceProxy>""" % (name, name) for name in BARE) + "</ProxyGroup></ServerManagerConfiguration>")


def state(proxy):
    """Member: value, of the VTK object behind a proxy, as it prints itself."""
    proxy.UpdateVTKObjects()
    lines = str(proxy.GetClientSideObject()).splitlines()
    return dict(re.match(r"\s*(.*?): *(.*)", line).groups() for line in lines if ":" in line)


def printed(name):
    return state(manager.NewProxy("filters", name))


for name, least in zip(BARE, (24, 20, 18, 30, 12, 24)):
    bare, sent = printed("Bare" + name), printed(name)
    compared = 0
    for member in properties(manager.GetPrototypeProxy("filters", name)):
        member = re.sub("[^A-Za-z]", "", member)
        if member in UNLIKE or member.startswith("Select"):
            continue
        spaced = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", member)
        key = member if member in bare else spaced
        expect(key in bare, "the filter prints " + member)
        # A default that depends on the input is before there is one what the XML says.
        expect(bare[key] == sent[key], "the filter's default of %s is the proxy's: %s, not %s"
               % (member, bare[key], sent[key]))
        compared += 1
    expect(compared >= least, "defaults of %s were compared" % name)


def values_of(proxy):
    """The state of the VTK object without its addresses and times."""
    return {key: value for key, value in state(proxy).items()
            if not re.search("Modified Time|Reference Count", key)}


def change(property_):
    """Gives a property another value of its domain."""
    count = property_.GetNumberOfElements()
    scope = property_.GetDomain("range")
    choices = property_.GetDomain("enum")
    if property_.IsA("vtkSMStringVectorProperty"):
        names = property_.GetDomain("list")
        property_.SetElement(0, names.GetString(1) if names else "something")
    elif count == 0 or property_.GetRepeatCommand():
        property_.SetNumberOfElements(max(count, 1))
        property_.SetElement(0, -7)
    elif choices:
        was = property_.GetElement(0)
        values = [choices.GetEntryValue(i) for i in range(choices.GetNumberOfEntries())]
        property_.SetElement(0, next(value for value in values if value != was))
    elif property_.GetDomain("bool"):
        property_.SetElement(0, 1 - property_.GetElement(0))
    else:
        was = property_.GetElement(0)
        lower = scope and scope.IsA("vtkSMDoubleRangeDomain") and scope.GetMaximumExists(0)
        property_.SetElement(0, type(was)(was / 2 + 0.2 if lower else was + 1))


# What is set in a proxy arrives at the filter. Arrays to process are not printed.
for name, least in zip(BARE, (24, 20, 18, 30, 12, 24)):
    arrived = 0
    for member, property_ in properties(manager.GetPrototypeProxy("filters", name)).items():
        if member in UNLIKE or member.startswith("Select"):
            continue
        proxy = manager.NewProxy("filters", name)
        before = values_of(proxy)
        change(proxy.GetProperty(member))
        expect(values_of(proxy) != before, "%s.%s changes the filter" % (name, member))
        arrived += 1
    expect(arrived >= least, "%d properties of %s were changed" % (arrived, name))

# The detectors that the XML offers are those that the filter takes, which it names when it gets
# another one.
offered = manager.GetPrototypeProxy("filters", "AsyncConnectivity").GetProperty("Detector").GetDomain("list")
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
