"""A small GTK window that offers one file for dragging, as a file manager does (text/uri-list).

Prints `ready` when its window is on the screen and `ended` when the drag is over. Targets ask for the file while it still
hovers over them, so that it was asked for says nothing.
Usage: drag_source.py FILE
"""

import pathlib
import sys

import gi

gi.require_version("Gtk", "3.0")
gi.require_version("Gdk", "3.0")
from gi.repository import Gdk, Gtk  # noqa: E402

URI = pathlib.Path(sys.argv[1]).resolve().as_uri()


def tell(word):
    print(word, flush=True)


def hand_over(_widget, _context, selection, _info, _time):
    selection.set_uris([URI])


window = Gtk.Window(title="muster-drag-source")
window.set_default_size(140, 90)
window.set_keep_above(True)
label = Gtk.Label(label="drag me")
box = Gtk.EventBox()
box.add(label)
box.drag_source_set(Gdk.ModifierType.BUTTON1_MASK, [], Gdk.DragAction.COPY)
box.drag_source_add_uri_targets()
box.connect("drag-data-get", hand_over)
box.connect("drag-end", lambda *_: tell("ended"))
window.add(box)
window.connect("map-event", lambda *_: tell("ready"))
window.connect("destroy", Gtk.main_quit)
window.show_all()
window.move(4, 4)
Gtk.main()
