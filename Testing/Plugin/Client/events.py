# SPDX-License-Identifier: BSD-3-Clause
"""Prints the events of the client test, as the client records them: for each case of cases.py, a macro makes the
input, events choose the filter in the menu, look at the panel and press Apply, and macros look at the result. Then
properties are undone, copied, saved and loaded."""
import os
from xml.sax.saxutils import quoteattr

from cases import CASES, chosen

WINDOW = "pqClientMainWindow"
PANEL = f"{WINDOW}/propertiesDock/propertiesPanel"
CONTENTS = f"{PANEL}/scrollArea/qt_scrollarea_viewport/scrollAreaWidgetContents"
PROPERTIES = f"{CONTENTS}/PropertiesFrame/ProxyPanel"
DIALOG = f"{WINDOW}/SelectInputDialog"


def element(tag, **attributes):
    print(f"  <{tag} " + " ".join(f"{name}={quoteattr(value)}" for name, value in attributes.items()) + "/>")


def event(target, command, arguments=""):
    element("pqevent", object=target, command=command, arguments=arguments)


def choose(menu, action):
    event(f"{WINDOW}/menubar/{menu}", "activate", action)


def macro(name):
    choose("menu_Macros", name)


def choose_seeds():
    """In the dialog of a filter with two inputs, whose first one is the active source: the second source."""
    event(f"{DIALOG}/buttonFrame/Source", "set_boolean", "true")
    for command, button in (("mousePress", "1"), ("mouseRelease", "0")):
        event(f"{DIALOG}/pipelineView", command, f"1,{button},0,60,8,/0:0/1:0")
    event(f"{DIALOG}/buttonBox/1QPushButton0", "activate")


def panel_event(kind, widget, name, value):
    if kind == "check":
        element("pqcheck", object=f"{PROPERTIES}/{widget}", property=name, arguments=value)
    else:
        event(f"{PROPERTIES}/{widget}", name, value)


def apply_case(case):
    macro("prepare")
    choose(f"menuFilters/{case.category}", case.filter)
    if case.seeds:
        choose_seeds()
    for each in case.events:
        panel_event(*each)
    event(f"{PANEL}/Accept", "activate")
    if case.last:
        event(f"{WINDOW}/VCRToolbar/actionVCRLastFrame", "activate")
    macro("verify")
    macro("picture")


def edit(state):
    """Undo, copied properties, and a state file."""
    macro("wavelet")
    choose("menuFilters/Tributary", "AsyncConnectivity")
    event(f"{PANEL}/Accept", "activate")
    for each in chosen("ConnectThrough", "Faces"):
        panel_event(*each)
    event(f"{PANEL}/Accept", "activate")
    choose("menu_Edit", "actionEditUndo")
    macro("undone")
    choose("menu_Edit", "actionEditRedo")
    macro("redone")
    event(f"{CONTENTS}/PropertiesButtons/PropertiesCopy", "activate")
    macro("select")
    choose("menuFilters/Tributary", "AsyncConnectivity")
    event(f"{CONTENTS}/PropertiesButtons/PropertiesPaste", "activate")
    event(f"{PANEL}/Accept", "activate")
    macro("pasted")
    choose("menu_File", "actionFileSaveServerState")
    event(f"{WINDOW}/FileSaveServerStateDialog", "filesSelected", state)
    macro("wavelet")
    choose("menu_File", "actionFileLoadServerState")
    event(f"{WINDOW}/FileLoadServerStateDialog", "filesSelected", state)
    macro("restored")


def main():
    print('<?xml version="1.0"?>\n<pqevents>')
    for case in CASES:
        apply_case(case)
    edit(os.path.join(os.environ["TRIBUTARY_OUTPUT"], "edited.pvsm"))
    print("</pqevents>")


if __name__ == "__main__":
    main()
