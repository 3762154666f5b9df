#!/usr/bin/env python3
"""test_terminal.py PROGRAM [unittest arguments]: what programs print of hostile names, labels and paths. PROGRAM is toy_app."""
import json
import os
import pathlib
import re
import subprocess
import sys
import unicodedata
import unittest

import numpy as np

import test_program
from test_program import LIMIT, Case, frames


class Terminal(Case):
    """No name, label or path makes a terminal do anything, or a shell that a remedy is pasted into."""

    TWIST = b"\x1b[2J\xc2\x9b1m\xe2\x80\xaex\xff\n'$(touch made)`touch made`"

    def setUp(self):
        super().setUp()
        np.save(self.folder / "good.npy", frames(2))
        self.env = {**os.environb, b"TOY_TWIST": self.TWIST}

    def harmless(self, code, *words, **env):
        """Run PROGRAM; its output and messages have only UTF-8 that terminals show."""
        done = subprocess.run([os.fsencode(w) for w in (test_program.PROGRAM, *words)], cwd=self.folder, capture_output=True,
                              env={**self.env, **{k.encode(): v.encode() for k, v in env.items()}}, timeout=LIMIT)
        self.assertEqual(done.returncode, code, done.stderr)
        for text in (done.stdout.decode(), done.stderr.decode()):
            bad = [c for c in text if c != "\n" and (unicodedata.category(c) in ("Cc", "Cf"))]
            self.assertEqual(bad, [], text)
        return done.stdout.decode(), done.stderr.decode()

    def test_names_and_labels(self):
        (self.folder / "labels").write_bytes(b"".join(b"%d\x1b]0;title\x07\n" % i for i in range(64)))
        self.assertIn("in.0\\x1b[2J", self.harmless(0, "--help")[0])
        run = ["--input", "good.npy", "--top", "1", "--labels", "labels", "--profile", "figures", "--explain"]
        out, _ = self.harmless(0, *run)
        self.assertEqual(len(re.findall(r"^frame \d \[\d\]: \d+ \d+\\x1b\]0;title\\x07 ", out, re.MULTILINE)), 4, out)
        for how in (["--transport", "in-process"], ["--plan"], ["--plan=steps"], ["--plan=dot"], ["--plan=json"]):
            self.harmless(0, "--random", "1", *how, TOY_OWNER="0,0,0,0,0,1")
        json.loads(self.harmless(0, "--plan=json")[0])
        json.loads((self.folder / "figures").read_text())

    def test_messages_are_one_line(self):
        for words in (["--input", self.TWIST], ["--input", b"in.0" + self.TWIST + b"=" + self.TWIST], [self.TWIST],
                      ["--random", "1", "--expect", "good.npy"], ["--random", "1", "--top", "1", "--labels", self.TWIST]):
            code = 2 if words[0] == self.TWIST else 1
            _, err = self.harmless(code, *words)
            self.assertRegex(err, r"\Adice: error: [^\n]+\n\Z")

    def test_remedies_run_nothing(self):
        self.weights("two", self.folder / "toy.safetensors")
        _, err = self.harmless(2, b"--input=in.0" + self.TWIST + b"=good.npy", TOY_NET="two")
        remedy = re.search(r"give them with (--input .*), or make random ones", err).group(1)
        told = subprocess.run(["sh", "-c", f"printf '%s\\n' {remedy}"], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual((told.returncode, told.stderr), (0, ""))
        option, value = told.stdout.splitlines()
        self.assertEqual((option, value[:5], value[-9:]), ("--input", "in.1\\", "=FILE.npy"))
        self.assertFalse((self.folder / "made").exists())


if __name__ == "__main__":
    test_program.PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
