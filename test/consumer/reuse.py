#!/usr/bin/env python3
"""reuse.py COMMANDS COMPILER ARGUMENT…: compiles; but if another build has compiled the same source with the same arguments, its
object is copied instead. COMMANDS is that build's compile_commands.json. Arguments that do not change objects may differ."""
import json
import os
import pathlib
import shlex
import shutil
import sys


def split(words):
    """(what determines the object, its file, the file of its dependencies)"""
    said, files, words = [], {}, iter(words)
    for word in words:
        if word in ("-o", "-MF", "-MT"):
            files[word] = next(words)
        elif word not in ("-MD", "-w") and not word.startswith("--param=ggc-"):
            said.append(word)
    return said, files.get("-o"), files.get("-MF")


arguments = sys.argv[2:]
said, made, dependencies = split(arguments)
for entry in json.loads(pathlib.Path(sys.argv[1]).read_text()):
    theirs, object_file, _ = split(shlex.split(entry["command"]))
    object_file = pathlib.Path(entry["directory"], object_file)
    if theirs == said and object_file.exists():
        shutil.copy(object_file, made)
        if dependencies:
            pathlib.Path(dependencies).write_text(f"{made}:\n")
        print("reused:", object_file)
        sys.exit()
os.execvp(arguments[0], arguments)
