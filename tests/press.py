#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Presses keys on a virtual screen: press.py Alt_L Left presses both at once.
For pictures and tests under Xvfb; the names are those of X keysyms."""
import ctypes
import sys

x11 = ctypes.CDLL("libX11.so.6")
xtst = ctypes.CDLL("libXtst.so.6")
x11.XOpenDisplay.restype = ctypes.c_void_p
x11.XStringToKeysym.restype = ctypes.c_ulong
x11.XKeysymToKeycode.argtypes = [ctypes.c_void_p, ctypes.c_ulong]
x11.XKeysymToKeycode.restype = ctypes.c_ubyte
xtst.XTestFakeKeyEvent.argtypes = [ctypes.c_void_p, ctypes.c_uint, ctypes.c_int, ctypes.c_ulong]
x11.XSync.argtypes = [ctypes.c_void_p, ctypes.c_int]


def main(names):
    display = x11.XOpenDisplay(None)
    if not display:
        return "there is no screen"
    keys = [x11.XKeysymToKeycode(display, x11.XStringToKeysym(name.encode())) for name in names]
    if not keys or 0 in keys:
        return f"no such key: {names}"
    for key in keys:
        xtst.XTestFakeKeyEvent(display, key, 1, 0)
    for key in reversed(keys):
        xtst.XTestFakeKeyEvent(display, key, 0, 0)
    x11.XSync(display, 0)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
