#!/usr/bin/env python3
"""test_cluster_app.py CLUSTER_APP TOY_APP BOARD_APP: the predictions that programs with a cluster print, the search at run time, and
on<>. MPIRUN names mpirun, or is empty."""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

APP, TOY, BOARD_APP = sys.argv.pop(1), sys.argv.pop(1), sys.argv.pop(1)


def run(*arguments, program=APP, **environment):
    return subprocess.run([program, *arguments], capture_output=True, text=True, timeout=60, env={**os.environ, **environment})


def predicted(*arguments):
    done = run(*arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


class Plans(unittest.TestCase):
    def test_plan_ends_with_the_prediction_and_the_mapping_as_cpp(self):
        text = predicted("--plan")
        table, mapping = text.split("Predicted on the cluster:\n")[1].split("\nusing deployment = ")
        self.assertRegex(table, r"host +ms +of the period\n")
        self.assertRegex(table, r"rank 0 +[sq] +\d+\.\d{3} +\d+ %\n")
        self.assertRegex(table, r"[\d.e+]+ frames/s, [\d.e+-]+ ms from a frame's entry to its results, [\d.e+-]+ J per frame, at most")
        self.assertIn(' 100 %', table)
        self.assertRegex(table, r"\nIts throughput is [\d.]+ % higher than the [\d.e+]+ frames/s of the best device alone \(threads<2> on q\)\.\n")
        # Ways to use the cluster, the best one first.
        self.assertRegex(table, r"\nBest for one frame: stages on one device [\d.]+ ms, \w+ on 2 devices [\d.]+ ms, .*\.\n"
                                r"Best for many:      (\w+) on 2 devices [\d.e+]+ frames/s, .*stages on 2 devices [\d.e+]+ frames/s.*\.\n"
                                r" +Of the first, (all its devices are busy|.* limits? it.*)\.\n"
                                r"--search=latency and --search=throughput print such mappings\.\n$")
        self.assertRegex(mapping, r'^dice::mapping<\n    dice::dev<0, dice::(cores<0, 1, 2, 3>, dice::on<"s">|threads<2>, dice::on<"q">)>, '
                                  r'dice::layers<dice::range<sample::image, sample::\w+>')

    def test_mappings_of_ones_own_are_written_as_cpp_too(self):
        done = subprocess.run([APP, "--plan"], env={"SLOWER": "yes"}, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.stdout.split("\nusing deployment = ")[1],
                         'dice::mapping<\n    dice::dev<0, dice::threads<2>, dice::on<"q">>, dice::layers<dice::range<sample::image, '
                         'sample::scores>>,\n    dice::in_flight<3>>;\n')

    def test_json_has_stages_that_make_up_the_figures(self):
        plan = json.loads(predicted("--plan=json"))
        all = plan["predicted"]
        self.assertEqual([s["rank"] for s in all["stages"]], list(range(len(plan["ranks"]))))
        times = [s[k] for s in all["stages"] for k in ("compute_s", "transfer_s")]
        self.assertAlmostEqual(all["latency_s"], sum(times), delta=1e-5 * sum(times))
        self.assertAlmostEqual(all["frames_per_s"] * max(times), 1, delta=1e-4)
        alone = all["best_device_alone"]
        self.assertEqual((alone["host"], alone["unit"]), ("q", "threads<2>"))
        self.assertAlmostEqual(alone["gain"], all["frames_per_s"] / alone["frames_per_s"] - 1, places=4)
        # The cluster is what dice-testbed emulates: each rank could compute the whole network alone.
        self.assertEqual([r["host"] for r in all["cluster"]["ranks"]], ["q", "s"])
        seconds = [r["network_s"] for r in all["cluster"]["ranks"]]
        self.assertAlmostEqual(seconds[0] * alone["frames_per_s"], 1, places=3)
        self.assertGreater(seconds[1], seconds[0])
        self.assertEqual(all["cluster"]["links"], [{"hosts": ["s", "q"], "mbit_per_s": 4000, "us": 1}])
        self.assertEqual(all["memory_bytes"], max(r["peak_bytes"] for r in plan["ranks"]))
        for ways, key in (all["schemes"]["one_frame"], "latency_s"), (all["schemes"]["many_frames"], "frames_per_s"):
            values = [w[key] * (1 if key == "latency_s" else -1) for w in ways]
            self.assertEqual(values, sorted(values))
            self.assertLess({"stages", "rows"}, {w["kind"] for w in ways} | {"mix"})
        self.assertTrue(all["schemes"]["limit"])

    def test_json_has_the_cluster_as_it_was_written(self):
        slow = {"host": "s", "board": "slow", "memory_bytes": 2**30,
                "processors": [{"unit": "cores<0, 1, 2, 3>", "gflops": 1, "gbytes_per_s": 1, "busy_watts": 3, "idle_watts": 1}]}
        unknown = {"host": "u", "board": "unknown", "memory_bytes": 0, "processors": [
            {"unit": "cpu, direct_convolutions", "gflops": 5, "gbytes_per_s": 4, "memory_bytes": 2**30, "sending": {"us": 3, "gbytes_per_s": 2}}],
            "inside": {"us": 7, "gbytes_per_s": 6}}
        self.assertEqual(json.loads(run("--plan=json", UNMETERED="yes").stdout)["predicted"]["cluster"]["hosts"], [slow, unknown])

    def test_a_profile_has_what_was_predicted(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "profile.json")
            done = run("--measure", str(file), SLOWER="yes")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(json.loads(file.read_text())["predicted"], json.loads(run("--plan=json", SLOWER="yes").stdout)["predicted"])

    def test_a_program_of_one_board_with_all_kernels_measures_all_layers(self):
        """It has no rank of its mapping."""
        self.assertIn("is for boards of the kind 'slow'", run("--random", "1", "--frames", "1", program=BOARD_APP, SLOWER="yes").stderr)
        for words in ("--measure", "/dev/stdout"), ("--measure=/dev/stdout",):
            done = run(*words, program=BOARD_APP, SLOWER="yes")
            self.assertEqual(done.returncode, 0, done.stderr)
            unit, = json.loads(done.stdout)["units"]
            self.assertTrue(len(unit["layers"]) > 2 and "missing" not in unit, unit)

    def test_programs_without_a_cluster_predict_nothing(self):
        self.assertNotIn("redicted", run("--plan", program=TOY).stdout)
        done = run("--search", program=TOY)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--search: this program has no cluster; give dice::main one", done.stderr)


class Searches(unittest.TestCase):
    def test_finds_at_run_time_what_the_compiler_found(self):
        mapping = predicted("--plan").split("\nusing deployment = ")[1]
        self.assertEqual(predicted("--search=whole_layers").split("\n\n")[0], "using deployment = " + mapping.rstrip("\n"))
        self.assertEqual(predicted("--search"), predicted("--search=throughput"))
        for line in predicted("--search").split("\n\n", 1)[1].splitlines():  # everything is valid C++
            self.assertRegex(line, r"^(// .*)?$")

    def figures(self, request):
        text = predicted("--search=" + request)
        fps, ms, joule = (float(x) for x in re.search(r"([\d.e+]+) frames/s, ([\d.e+-]+) ms .*?, ([\d.e+-]+) J", text).groups())
        return fps, ms, joule, text.count("dice::dev<")

    def test_each_objective_is_best_in_its_own(self):
        found = [self.figures(request) for request in ("throughput", "latency", "energy")]
        self.assertEqual(found[0][0], max(f[0] for f in found))
        self.assertEqual(found[1][1], min(f[1] for f in found))
        self.assertEqual(found[2][2], min(f[2] for f in found))
        self.assertEqual(found[1][3], 1)  # nothing is faster than the quick host by itself

    def test_keeps_to_limits(self):
        fps, ms, _, _ = self.figures("throughput")
        self.assertGreaterEqual(self.figures(f"energy,at_least_fps={fps * 0.95}")[0], fps * 0.95)
        least = self.figures("latency")[1]
        middle = (least + ms) / 2
        self.assertLessEqual(self.figures(f"throughput,at_most_latency={middle}")[1], middle)
        self.figures("throughput,in_order")
        self.figures("throughput,repeats")

    def test_keeps_inputs_and_outputs_on_their_hosts(self):
        for source, sink in ("ss", "sq", "qs", "qq"):
            text = predicted(f"--search=input_at={source},output_at={sink}")
            devices = re.findall(r'dice::on<"(.)">>, (.*)\n', text)
            self.assertEqual([host for host, layers in devices if "image" in layers], [source])
            last = re.findall(r'on<"(.)">|ranks<(\d)>', text.split("sample::scores")[0])[-1]
            self.assertEqual(last[0] or devices[int(last[1])][0], sink, text)
            self.assertEqual("// No device alone is on the hosts of both the input and the output.\n" in text, source != sink)

    def test_spends_no_device_for_little(self):
        gain = float(re.search(r"Its throughput is ([\d.]+) % higher", predicted("--search"))[1])
        loss = 100 - 100 / (1 + gain / 100)
        self.assertEqual(self.figures(f"fewest_devices={loss + 0.1}")[3], 1)
        self.assertEqual(self.figures(f"fewest_devices={loss - 0.1}")[3], 2)
        self.assertEqual(self.figures("fewest_devices=0,whole_layers"), self.figures("throughput,whole_layers"))

    def test_compares_with_the_best_device_alone(self):
        def least(stages):
            return float(re.search(r"memory_limit=([\d.]+) \(", run("--search=memory_limit=1e-4" + stages).stderr)[1])
        for request, words in (
                ("latency", r"This is the best device alone\."), ("energy", r"Its energy is [\d.]+ % lower than|This is the best device"),
                ("peak_memory", r"Its memory is [\d.]+ % lower than the [\d.]+ KiB at most per rank of the best device alone \("),
                ("memory_limit=LEAST", r"No device alone can hold the network: it would need [\d.]+ KiB\."),
                (f"at_least_fps={self.figures('throughput,whole_layers')[0] * 0.99}", r"No device alone meets at_least_fps=[\d.]+; the best reaches [\d.e+]+ frames/s\.")):
            for stages in "", ",whole_layers":
                self.assertRegex(predicted("--search=" + request.replace("LEAST", str(least(stages) * 1.01)) + stages), "(?m)^// " + words)

    def test_tells_limits_that_can_be_kept(self):
        both = f"at_least_fps={self.figures('throughput')[0] * 0.9}"  # what is quickest has fewer
        for request, limit in (("throughput", "at_least_fps=1e9"), ("latency", "at_most_latency=1e-06"), (both, "at_most_latency=1e-06"),
                            ("energy", "memory_limit=0.001"), ("energy,repeats", "at_least_fps=1e+06")):
            done = run(f"--search={request},{limit}")
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            told = re.fullmatch(r"dice: error: --search: no mapping meets (\w+)=([\d.e+-]+); the (most|least) possible is "
                                r"(\w+=[\d.e+-]+) \(relax this limit, or add devices\)\n", done.stderr)
            self.assertTrue(told, done.stderr)
            self.assertEqual(told[1], limit.split("=")[0])
            self.assertAlmostEqual(float(told[2]) / float(limit.split("=")[1]), 1, places=4)
            self.assertEqual(told[3], "most" if "fps" in limit else "least")
            self.figures(f"{request},{told[4]}")

    def test_counts_on_the_memory_of_the_plan(self):
        told = run("--search=memory_limit=0.0001").stderr
        least = float(re.search(r"the least possible is memory_limit=([\d.]+)", told)[1])  # MiB; differs between processors
        for objective in ("throughput", "latency", "energy", "peak_memory"):
            text = predicted(f"--search={objective},memory_limit={least * 1.1:.6f}")
            number, unit = re.search(r"at most ([\d.]+) (B|KiB) per rank", text).groups()
            self.assertLessEqual(float(number) * {"B": 2**-20, "KiB": 2**-10}[unit], least * 1.1)

    def test_refuses_with_the_reason(self):
        for request, code, words in (
                ("speed", 2, "'speed' is not an objective or limit; write throughput, latency, energy or peak_memory"),
                ("at_least_fps", 2, "'at_least_fps': write at_least_fps=N with a number from 1e-12 to 1e12"),
                ("at_least_fps=1e300", 2, "'at_least_fps=1e300': write at_least_fps=N with a number from 1e-12 to 1e12"),
                ("throughput,latency", 2, "'throughput,latency': an objective is given twice; give it once"),
                ("memory_limit=2,energy,memory_limit=1", 2, "memory_limit is given twice; give it once"),
                ("in_order,in_order", 2, "in_order is given twice"),
                ("throughput,", 2, "'' is not an objective or limit"), (",throughput", 2, "'' is not an objective or limit"),
                ("at_least_fps=-1", 2, "'at_least_fps=-1': write at_least_fps=N"),
                ("memory_limit=x", 2, "'memory_limit=x': write memory_limit=N"),
                ("memory_limit=0.0000001", 2, "'memory_limit=0.0000001': write memory_limit=N with a number from 1e-06 to 1e12"),
                ("in_order,repeats", 2, "'in_order,repeats': in_order and repeats do not go together: in order, no device comes twice; leave one out"),
                ("input_at=x", 2, "'input_at=x': write input_at=HOST with a host of the cluster: s, q"),
                ("output_at", 2, "'output_at': write output_at=HOST with a host of the cluster: s, q"),
                ("input_at=s,input_at=q", 2, "input_at is given twice; give it once"),
                ("fewest_devices=101", 2, "'fewest_devices=101': write fewest_devices=N with a number from 0 to 100"),
                ("input_at=q,output_at=s,in_order", 1, "no mapping has the inputs and outputs on the hosts of input_at and output_at"),
                ("output_at=s,memory_limit=1e-6", 1, "memory_limit is too little for the network's output, which needs "),
                ("at_least_fps=1e9", 1, "no mapping meets at_least_fps=1e+09; the most possible is at_least_fps=15"),
                ("memory_limit=0.0001", 1, "no mapping meets memory_limit=0.0001; the least possible is memory_limit=0.0")):
            done = run("--search=" + request)
            self.assertEqual((done.returncode, done.stdout), (code, ""), request)
            self.assertTrue(done.stderr.startswith("dice: error: --search: "), done.stderr)
            self.assertIn(words, done.stderr)


    def test_finds_mixes_and_says_what_it_tried(self):
        text = predicted("--search=throughput")
        self.assertIn("dice::replicas<", text)
        value, bound, gap = re.search(r"// ([\d.e+]+) frames/s, .*\n// .*\n// No mapping on these devices can have more than ([\d.e+]+) frames/s: "
                                      r"this one is within ([\d.e-]+) % of that\.\n", text).groups()
        self.assertAlmostEqual(1 - float(value) / float(bound), float(gap) / 100, places=3)
        self.assertGreater(float(value), self.figures("throughput,whole_layers")[0] * 1.03)
        self.assertRegex(text, r"// Catalogue \(effort=1\): 9 cut units, each whole on one of 2 devices,\n"
                               r"// or shared in one of \d+ ways \(rows, columns, output_channels, input_channels, replicas\),\n"
                               r"// by one of 1 set of devices, with shares by speed, and exchanges up to every 2 layers\.\n"
                               r"// The way may change before each cut unit: [\d.e+]+ mappings\. .*")
        # A catalogue that is small is rated as a whole.
        few = predicted("--search=throughput,kinds=replicas")
        self.assertRegex(few, r"(?s)\(replicas\).*All of them, and some near the best,\n// were rated by their plans: \d+\.")
        self.assertGreater(float(re.search(r"in one of (\d+) ways", predicted("--search=effort=2"))[1]),
                           float(re.search(r"in one of (\d+) ways", text)[1]))

    def test_whole_layers_have_the_figures_of_their_plan_where_connections_differ(self):
        line = r"([\d.e+]+) frames/s, ([\d.e+-]+) ms"
        alone = re.search(line, run("--plan", DISTANT="yes").stdout)
        for request in "throughput", "latency", f"at_least_fps={float(alone[1]) * 0.9}":
            found = run("--search=whole_layers," + request, DISTANT="yes").stdout
            self.assertIn(", each whole on one of 4 devices.\n", found)
            with tempfile.NamedTemporaryFile("w") as file:
                file.write(found)
                file.flush()
                plan = run("--plan", "--mapping", file.name, DISTANT="yes").stdout
            self.assertEqual(re.search(line, found)[0], re.search(line, plan)[0])
            self.assertTrue(float(re.search(line, found)[1]) >= float(alone[1]) or request == "latency")
            self.assertLessEqual(float(re.search(line, found)[2]), float(alone[2]) * (1 if request == "latency" else 1000))
        # Three stages: no row of the plan has the time of a relayed tensor.
        three = ('mapping<dev<0, cpu, on<"a">>, layers<to<relu2>>, dev<1, cpu, on<"b">>, layers<pool1>, dev<2, cpu, on<"c">>, '
                 'layers<from<pool2>>>')
        self.assertIn(" ms for messages ", run("--plan", "--mapping", three, DISTANT="yes").stdout)
        done = run("--search=whole_layers,at_least_fps=1e12", DISTANT="yes")
        most = re.search(r"the most possible is (at_least_fps=[\d.e+]+) ", done.stderr)[1]
        self.assertEqual(run("--search=whole_layers," + most, DISTANT="yes").returncode, 0)

    def test_splits_only_as_it_may(self):
        for kind, word in (("rows", "rows<"), ("replicas", "replicas<"), ("output_channels", "output_channels<")):
            text = predicted(f"--search=throughput,kinds={kind}")
            words = set(re.findall(r"dice::(\w+)<(?=dice::(?:range|from|to)|sample)", text)) - {"layers", "range"}
            self.assertLessEqual(words, {kind})
        text = predicted("--search=throughput,no_split_of=conv1+range<conv2, fc1>")
        self.assertNotRegex(text.split("\n\n")[0], r"(rows|columns|tiles|channels|replicas)<")
        for request, words in (
                ("kinds=row", "'row' is not a kind of split; write kinds= with some of rows, columns, grid, output_channels, input_channels, "
                              "replicas, separated by +"),
                ("kinds=", "'kinds=': a kind of split is missing; write kinds= with some of rows, "),
                ("kinds=rows+", "'kinds=rows+': a kind of split is missing"),
                ("whole_layers,effort=3", "'whole_layers,effort=3': effort is for mixes; leave out effort or whole_layers"),
                ("no_split_of=conv9", "'no_split_of=conv9': a layer is not in the network, or a range ends before it begins; write "
                                      "no_split_of= with layers of the network as in a mapping, separated by +"),
                ("no_split_of=", "'no_split_of=': "), ("no_split_of=conv1>", "'no_split_of=conv1>': it cannot be read"),
                ("no_split_of=rows<conv1>", "'no_split_of=rows<conv1>': "), ("no_split_of=range<fc1, conv1>", "a range ends before it begins"),
                ("effort=4", "'effort=4': write effort=N with a number from 1 to 3"), ("effort=1.5", "with a whole number"),
                ("whole_layers,kinds=rows", "whole_layers leaves nothing for kinds or no_split_of to choose; leave one out"),
                ("whole_layers,whole_layers", "whole_layers is given twice")):
            done = run("--search=" + request)
            self.assertEqual((done.returncode, done.stdout), (2, ""), request)
            self.assertIn("dice: error: --search: ", done.stderr)
            self.assertIn(words, done.stderr)

    def test_search_as_json(self):
        found = json.loads(predicted("--search=latency,json"))
        text = predicted("--search=latency")
        self.assertEqual(found["objective"], "latency")
        self.assertEqual(re.sub(r"\s+", " ", found["mapping"]), re.sub(r"\s+", " ", re.search(r"(?s)= (.*?);", text)[1]))
        fps, ms, joule = (float(x) for x in re.search(r"([\d.e+]+) frames/s, ([\d.e+-]+) ms .*?, ([\d.e+-]+) J", text).groups())
        for is_, said in (found["frames_per_s"], fps), (found["latency_s"] * 1e3, ms), (found["energy_j"], joule):
            self.assertAlmostEqual(is_ / said, 1, places=3)
        self.assertTrue(0 < found["bound"] <= found["latency_s"] * (1 + 1e-6), found)
        self.assertEqual([r["rank"] for r in found["ranks"]], list(range(len(found["ranks"]))))
        self.assertEqual(max(r["memory_bytes"] for r in found["ranks"]), found["memory_bytes"])
        self.assertTrue(sum(r["computing_s"] for r in found["ranks"]) > 0 and {r["host"] for r in found["ranks"]} <= {"s", "q"}, found)
        catalogue = found["catalogue"]
        self.assertEqual(f"{catalogue['mappings']:.3g}", re.search(r": ([\d.e+]+) mappings", text)[1])
        self.assertTrue(catalogue["rated"] > 0 and not catalogue["stopped"] and "rows" in catalogue["kinds"], catalogue)
        self.assertNotIn("measured", found)
        most = json.loads(predicted("--search=throughput,json"))
        self.assertGreaterEqual(most["bound"] * (1 + 1e-6), most["frames_per_s"])
        stages = json.loads(predicted("--search=throughput,whole_layers,json"))
        self.assertEqual((stages["objective"], "ranks" in stages), ("throughput", False))
        self.assertTrue(stages["mapping"].startswith("dice::mapping<") and stages["frames_per_s"] <= most["frames_per_s"] * (1 + 1e-6), stages)

    def test_a_stopped_search_prints_the_best_so_far(self):
        search = subprocess.Popen([APP, "--search=throughput,effort=3"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(0.1)
        search.send_signal(signal.SIGINT)
        out, errors = search.communicate(timeout=30)
        if search.returncode == -signal.SIGINT:  # it had not begun
            return self.assertEqual(out, "")
        self.assertEqual((search.returncode, errors), (0, ""))
        self.assertRegex(out, r"^using deployment = dice::mapping<")
        if "The search was stopped" in out:
            self.assertTrue(out.endswith("// The search was stopped: this is the best mapping so far.\n"), out)

    def test_the_search_for_the_reason_can_be_stopped(self):
        stopped = told = 0
        for delay in range(60, 400, 20):  # ms; the search for the reason takes most of half a second
            search = subprocess.Popen([APP, "--search=latency,at_most_latency=1e-06,effort=3"], stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, text=True)
            time.sleep(delay / 1000)
            alive = search.poll() is None
            search.send_signal(signal.SIGINT)
            out, errors = search.communicate(timeout=30)
            if not alive or search.returncode == -signal.SIGINT:  # it was done, or had not begun
                continue
            self.assertEqual((search.returncode, out), (1, ""))
            if "no mapping meets" in errors:
                told += 1
            else:
                self.assertEqual(errors, "dice: error: --search: it was stopped before it found a mapping\n")
                stopped += 1
        self.assertTrue(told <= 1 + stopped / 4, (told, stopped))  # the signal can come at the very end

    def measured(self, request, script, *options):
        """What --search prints, or its error, and the calls of a mpirun that this shell script stands in for."""
        with tempfile.TemporaryDirectory() as folder:
            calls, mpirun = pathlib.Path(folder, "calls"), pathlib.Path(folder, "mpi run")
            mpirun.write_text(f"#!/bin/sh\necho \"$@\" >> '{calls}'\nn=$(wc -l < '{calls}')\n{script}\n")
            mpirun.chmod(0o755)
            done = run(*options, "--search=" + request, MPIRUN=f"'{mpirun}'", MPIRUN_OPTIONS="--map-by node")
            return done, calls.read_text().splitlines() if calls.exists() else []

    def test_runs_the_best_mappings_and_takes_the_best_measured(self):
        answers = ('case $n in 1) t=5;; 2) t=3;; 3) echo boom >&2; exit 7;; *) t=9;; esac; '
                   'echo "{\\"frames\\": 5, \\"frames_per_second\\": $t, \\"latency_ms\\": {\\"min\\": 1, \\"median\\": $t}}"')
        done, calls = self.measured("latency,measured=4", answers)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(calls), 4)
        for call in calls:
            hosts, count, program, mapping = re.fullmatch(r"--map-by node --bind-to none --host (\S+) -n (\d) (\S+) --mapping (dice::mapping<.*>) "
                                                          r"--random 1 --warmup 3 --frames \d+ --in-flight 1 --json /dev/stdout", call).groups()
            named = re.findall(r'on<"(.)">', mapping)
            self.assertEqual((hosts, int(count)), (",".join(h + ":1" for h in named), len(named)))
            self.assertTrue(os.path.samefile(program, APP))
        self.assertEqual(len(set(calls)), 4)
        self.assertIn("boom", done.stderr)
        kinds = "(whole layers|(rows|columns|grid|output_channels|input_channels)(, \\w+)*)"
        self.assertRegex(done.stdout, r"// +computes by +devices +predicted +measured\n// 1 +%s +\d +[\d.]+ ms +5 ms\n// 2 +%s +\d +[\d.]+ ms +3 ms\n"
                                      r"// 3 +%s +\d +[\d.]+ ms +exit status 7\n// 4 +%s +\d +[\d.]+ ms +9 ms\n// Mapping 2 was the best one measured\. "
                                      r"Rank correlation \(Spearman\) of predicted and measured: -?[01]\.\d\d\.\n" % ((kinds,) * 4))
        # The mapping that is printed is the one that was the best.
        text = re.search(r"--mapping (.*) --random", calls[1])[1]
        self.assertEqual("".join(done.stdout.split("using deployment = ")[1].split(";")[0].splitlines()), text)

        found = json.loads(self.measured("latency,measured=4,json", answers)[0].stdout)
        self.assertEqual([m.get("latency_s", m.get("failed")) for m in found["measured"]], [0.005, 0.003, "exit status 7", 0.009])
        self.assertEqual(found["mapping"], found["measured"][1]["mapping"])
        self.assertTrue(-1 <= found["rank_correlation"] <= 1 and all(m["predicted_latency_s"] > 0 for m in found["measured"]), found)

        done, calls = self.measured("measured=2", answers)  # more frames a second are better
        self.assertRegex(done.stdout, r"// Mapping 1 was the best one measured\. Rank correlation \(Spearman\) of predicted and measured: [01]\.00\.\n")
        self.assertNotIn("--in-flight", calls[0])
        self.assertNotIn("--weights", calls[0])
        with tempfile.NamedTemporaryFile() as weights:
            done, calls = self.measured("measured=1", answers, "--weights", weights.name)
            self.assertIn(f"> --weights {weights.name} --random 1", calls[0])
        self.assertIn(" --warmup 12 --frames ", calls[0])  # as many as are in flight, and more

    def test_a_mapping_that_does_not_run_is_not_the_best(self):
        done, calls = self.measured("measured=3,json", 'test $n = 1 && exit 7; echo "{\\"frames_per_second\\": $n}"')
        found = json.loads(done.stdout)
        self.assertEqual([m.get("frames_per_s", m.get("failed")) for m in found["measured"]], ["exit status 7", 2, 3])
        self.assertEqual(found["mapping"], found["measured"][2]["mapping"])
        self.assertTrue(all(m["predicted_frames_per_s"] > 0 for m in found["measured"]), found)

    def test_says_why_nothing_could_be_measured(self):
        done, calls = self.measured("latency,measured=2", "exit 3")
        self.assertEqual((done.returncode, len(calls)), (1, 2))
        # What is printed is what was predicted best.
        best = predicted("--search=latency")
        self.assertEqual(done.stdout.split("\n\n")[0], best.split("\n\n")[0])
        self.assertRegex(done.stdout, r"(?s)// 1 .* exit status 3\n// 2 .* exit status 3\n// No mapping ran: this is the one that was predicted best\.\n$")
        as_json = json.loads(self.measured("latency,measured=2,json", "exit 3")[0].stdout)
        self.assertEqual([m["failed"] for m in as_json["measured"]], 2 * ["exit status 3"])
        self.assertRegex(done.stderr, r"^dice: error: --search: no mapping ran \(exit status 3\); try one by hand: '.*mpi run' --map-by node --bind-to "
                                      r"none --host 'q:1' -n 1 '.*cluster_app' --mapping 'dice::mapping<.*>' --random 1 ")
        self.assertIn("no mapping ran (it did not say how fast it was)", self.measured("latency,measured=1", "echo hello")[0].stderr)
        for request, words in (("energy,measured=2", "only throughput and latency can be measured"), ("measured=65", "from 1 to 64"),
                               ("measured=0", "from 1 to 64"), ("whole_layers,measured=2", "measured is for mixes; leave out whole_layers")):
            done, calls = self.measured(request, "exit 3")
            self.assertEqual((done.returncode, calls), (2, []))
            self.assertIn(words, done.stderr)

    def stopped_while_measuring(self, script, request="measured=8"):
        """What --search prints if it gets SIGINT once a mpirun that this shell script stands in for has made a file `now`."""
        with tempfile.TemporaryDirectory() as folder:
            calls, now, mpirun = (pathlib.Path(folder, name) for name in ("calls", "now", "mpirun"))
            mpirun.write_text(f"#!/bin/sh\necho >> '{calls}'\nn=$(wc -l < '{calls}')\nnow='{now}'\n{script}\n")
            mpirun.chmod(0o755)
            search = subprocess.Popen([APP, "--search=" + request], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                      env={**os.environ, "MPIRUN": str(mpirun)})
            while not now.exists() and search.poll() is None:
                time.sleep(0.01)
            search.send_signal(signal.SIGINT)
            out, errors = search.communicate(timeout=30)
            return search.returncode, out, errors, len(calls.read_text().splitlines())

    def test_stopped_measurements_print_the_best_so_far(self):
        best = predicted("--search").split("\n\n")[0]
        code, out, errors, calls = self.stopped_while_measuring("touch $now; sleep 60")
        self.assertEqual((code, errors, calls), (0, "", 1))
        self.assertEqual(out.split("\n\n")[0], best)
        self.assertTrue(out.endswith("\n// The measurements were stopped before a mapping had run: this is the one that was predicted best.\n"), out)

        answer = 'test $n = 3 && touch $now && sleep 60; echo "{\\"frames_per_second\\": $n}"'
        code, out, errors, calls = self.stopped_while_measuring(answer)
        self.assertEqual((code, errors, calls), (0, "", 3))
        self.assertNotEqual(out.split("\n\n")[0], best)  # the second one was faster
        self.assertRegex(out, r"// 1 .* 1 frames/s\n// 2 .* 2 frames/s\n// Mapping 2 was the best one measured\. Rank .*\n"
                              r"// The measurements were stopped: others had not run\.\n$")
        found = json.loads(self.stopped_while_measuring(answer, "measured=8,json")[1])
        self.assertEqual([m["frames_per_s"] for m in found["measured"]], [1, 2])
        self.assertTrue(found["measuring_stopped"])

        failing = self.stopped_while_measuring("test $n = 1 && exit 3; touch $now; sleep 60")
        self.assertEqual(failing[0], 0)
        self.assertIn("exit status 3\n// The measurements were stopped before a mapping had run", failing[1])

    def test_energy_needs_watts(self):
        self.assertEqual(run("--search=energy", UNMETERED="yes").stderr, "dice: error: --search energy: the processor cpu of host 'u' has no watts; "
                         "write dice::watts<BUSY, IDLE> into its dice::processor<…> in the cluster: the power that it draws while it computes and "
                         "while it waits, in W\n")


class Mappings(unittest.TestCase):
    def test_what_search_prints_is_a_mapping_as_it_is(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "mapping")
            for request in ("throughput", "latency", "energy,repeats"):
                file.write_text(predicted("--search=" + request))
                text = predicted("--plan", "--mapping", str(file))
                self.assertEqual(text.split("\nusing deployment = ")[1].rstrip("\n"),
                                 file.read_text().split("using deployment = ")[1].split("\n\n")[0])
                figures = file.read_text().split(" frames/s")[0].split("\n// ")[-1]
                self.assertIn(f"\n{figures} frames/s", text)

    def test_ranks_are_on_hosts_of_the_cluster(self):
        for mapping, words in (
                ('mapping<dev<0, cpu, on<"x">>, layers<all>>', "rank_on_unknown_host: rank 0 is on 'x', which is not a host of the cluster; tie"),
                ('mapping<dev<0, threads<2>, on<"q">>, layers<to<relu1>>, dev<1, gpu>, layers<from<conv2>>>', "unit_without_backend: 'gpu'"),
                ("mapping<dev<0>, layers<none>>", "not_a_layer_of_the_network")):
            done = run("--plan", "--mapping", mapping)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(words, done.stderr)


class Hosts(unittest.TestCase):
    @unittest.skipUnless(os.environ.get("MPIRUN"), "no mpirun")
    def test_ranks_that_are_elsewhere_warn(self):
        header = json.dumps({"__metadata__": dict.fromkeys(["dice_structure", "dice_digest", "model_sha256"], "0" * 64),
                             "all": {"dtype": "F32", "shape": [1440], "data_offsets": [0, 5760]}})
        header += " " * (-(len(header) + 8) % 64)
        with tempfile.TemporaryDirectory() as folder:
            weights = pathlib.Path(folder, "sample.safetensors")
            weights.write_bytes(len(header).to_bytes(8, "little") + header.encode() + bytes(5760))
            mpirun = [os.environ["MPIRUN"], "--oversubscribe", "--bind-to", "none", "-np", "2"]
            done = run(*mpirun[1:], APP, "--random", "1", "--frames", "3", "--weights", str(weights), program=mpirun[0])
            self.assertEqual(done.returncode, 0, done.stderr)
            for host in "sq":
                self.assertIn(f"is meant for host '{host}', as on<> says; start it there (mpirun --rankfile), "
                              "or change the mapping", done.stderr)
            # Ranks as threads of one process are all on its host, so that a mapping can be tried.
            done = run("--random", "1", "--frames", "3", "--weights", str(weights), "--transport", "in-process")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotIn("is meant for host", done.stderr)


if __name__ == "__main__":
    unittest.main()
