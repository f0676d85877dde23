"""The process that calls a function which nobody trusts: it never loads it, its copies do, one for each call.

How calls are kept apart, and why that is enough, is said in `namespaces`. To be quick, modules that the function uses
are imported before copies are made: a first copy loads the function, calls it with nobody, and says which modules are
there then. Those of them that are installed packages are imported here, by name; the function's own never are.
"""

from __future__ import annotations

import gc
import os
import select
import socket
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from importlib import import_module
from importlib.machinery import PathFinder

from tacit.black_boxes.evaluator import Evaluator, EvaluatorSetup, answer_alone, end, limit_memory, send
from tacit.black_boxes.modules import list_needed
from tacit.black_boxes.namespaces import LackingError, Supervisor, beneath, enter, list_installed

LONGEST = 2**20
"""The most bytes in which modules are named."""


def serve_confined(control: socket.socket, setup: EvaluatorSetup) -> None:
    """Answer on a control socket until it closes; `evaluator.serve` says in which words."""
    software = list_installed()
    own = [path for path in setup.path if not beneath(path, software)]
    try:
        supervisor = enter(list_needed(setup.function, own))
    except LackingError as lacking:
        send(control, b"!" + str(lacking).encode())
        return
    sys.path[:] = [path for path in setup.path if path not in own]
    if setup.template is not None:
        _import(["pandas"])  # sure to be needed
    modules = setup.modules
    if modules is None:
        said = _first_call(supervisor, control, setup)
        if not said.startswith("+"):
            send(control, b"-")
            return
        modules = tuple(said[1:].split())
    _import(modules)
    PathFinder.find_spec("", setup.path)  # remembers what the directories hold, for copies
    supervisor.keep_memory()
    gc.freeze()  # a collection in a copy would touch, and so copy, all that is loaded here
    limit_memory(setup.memory, supervisor.used())
    send(control, b"+" + " ".join(modules).encode())
    child = 0
    while True:
        kind, descriptors, _, _ = socket.recv_fds(control, 1, 1)
        if kind == b"c":
            child = _copy(supervisor, control, descriptors[0])
            if not child:
                answer_alone(partial(_loaded, setup), 3)
            os.close(descriptors[0])
        elif kind == b"d":
            end(child)
            child = 0
            control.sendall(b".")
        else:
            return  # which ends whatever is inside


def _copy(supervisor: Supervisor, control: socket.socket, line: int) -> int:
    """A copy that keeps nothing but a line, number 3 there; it does not outlive a failure to be confined."""
    child = supervisor.fork()
    if not child:
        try:
            control.detach()
            supervisor.confine(line)
        except BaseException:
            os._exit(1)
    return child


def _loaded(setup: EvaluatorSetup) -> Evaluator:
    sys.path[:] = setup.path
    return Evaluator(setup)


def _first_call(supervisor: Supervisor, control: socket.socket, setup: EvaluatorSetup) -> str:
    """The modules there are after a call with nobody, after a "+"; anything else if the function cannot be loaded."""
    mine, theirs = socket.socketpair()
    child = _copy(supervisor, control, theirs.fileno())
    if not child:
        with suppress(BaseException):
            evaluator = _loaded(setup)
            evaluator.warm_up()
            os.write(3, b"+" + " ".join(_installed_modules()).encode()[:LONGEST])
        os._exit(0)
    theirs.close()
    said, last = b"", time.monotonic() + 100 + setup.seconds
    while len(said) <= LONGEST and (left := last - time.monotonic()) > 0 and select.select([mine], [], [], left)[0]:
        chunk = mine.recv(LONGEST)
        if not chunk:
            break
        said += chunk
    end(child)
    mine.close()
    return said.decode(errors="replace")


def _installed_modules() -> list[str]:
    software = list_installed()
    return [name for name, module in sys.modules.items() if beneath(getattr(module, "__file__", "") or "", software)]


def _import(modules: Iterable[str]) -> None:
    """Import what is installed; everything else is not on the path."""
    for name in modules:
        if name not in sys.modules and all(part.isidentifier() and part != "__main__" for part in name.split(".")):
            with suppress(BaseException):
                import_module(name)
