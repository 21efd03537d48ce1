"""Joins two network namespaces by a cable that takes its time: long_line.py NEAR FAR MS. Each gets a device `long0`, and a frame that enters
one comes out of the other after MS milliseconds. Kernels without netem can do this too. Runs until it is ended."""

import collections
import ctypes
import fcntl
import os
import select
import struct
import sys
import time

CLONE_NEWNET, TUNSETIFF, IFF_TAP, IFF_NO_PI = 0x40000000, 0x400454CA, 0x0002, 0x1000


def device_in(namespace):
    with open(f"/run/netns/{namespace}") as there:
        if ctypes.CDLL(None, use_errno=True).setns(there.fileno(), CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), f"cannot enter {namespace}")
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH14s", b"long0", IFF_TAP | IFF_NO_PI, b""))
    return device


def main():
    ends = [device_in(name) for name in sys.argv[1:3]]
    delay = float(sys.argv[3]) / 1000
    on_the_way = collections.deque()  # (when it comes out, where, frame), in order
    print("ready", flush=True)
    while True:
        wait = max(0.0, on_the_way[0][0] - time.monotonic()) if on_the_way else None
        for end in select.select(ends, [], [], wait)[0]:
            try:
                on_the_way.append((time.monotonic() + delay, ends[end == ends[0]], os.read(end, 65536)))
            except OSError:
                pass  # the device is not up yet
        while on_the_way and on_the_way[0][0] <= time.monotonic():
            _, end, frame = on_the_way.popleft()
            try:
                os.write(end, frame)
            except OSError:
                pass  # as a cable loses frames


main()
