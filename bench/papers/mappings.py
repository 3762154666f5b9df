"""What splits and schemes share: mappings as text, their latencies on hosts of a test bed, and what dice predicts."""
import json
import re
import shutil
import statistics
import subprocess

import bed

CHANNELS = ("Conv", "Gemm", "Relu", "LeakyRelu", "Add", "MaxPool")  # what has output channels to divide
LINKS = "digits"  # the network that is small enough to measure nothing but links with it


class Lab(bed.Bed):
    """A bed with one program for each network, which runs any mapping, and predicts mappings for measured hosts."""

    def __init__(self, work, networks):
        digits = work / f"models/{LINKS}.onnx"
        digits.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(bed.ROOT / "examples/digits/digits.onnx", digits)
        super().__init__(work, [*networks, LINKS])
        self.times, self.messages = {}, {}
        for name in [*networks, LINKS]:
            self.add_source(f"{name}_any", name, f'#define NETWORK {name}\n#define HEADER "{name}.hpp"\n'
                            f'#include "{bed.HERE}/foretell_mappings.cpp"\n')
        self.build(*self.programs)

    def latency(self, network, hosts, *options, frames=5):
        """The report of some frames, one at a time, on `hosts`."""
        file, model = self.work / "run.json", self.work / f"models/{network}"
        self.start(f"{network}_any", hosts, "--weights", f"{model}.safetensors", "--input", f"{model}.npy", "--warmup", 1, "--frames",
                   frames, "--in-flight", 1, "--json", file, *options)
        return json.loads(file.read_text())

    def accepted(self, network, make):
        """make(layers that cannot be divided as it would like) as soon as the program accepts it, and its plan."""
        refused = set()
        while True:
            text = make(refused)
            done = subprocess.run([self.work / f"build/{network}_any", "--mapping", text, "--plan=json"], capture_output=True, text=True)
            if done.returncode == 0:
                return text, json.loads(done.stdout)
            layer = re.search(r"layer '(\w+)'", done.stderr)
            if not layer or layer.group(1) in refused:
                raise SystemExit(f"{done.stderr}{text}")
            refused.add(layer.group(1))

    def measured(self, network, hosts):
        """What --measure finds on hosts h1 …: for each the ms of the network's layers, for links and messages its file. Hosts that
        are alike have the times of the slowest of them, as dice-run measure writes them: if each had its own, the search would make
        the most of the noise."""
        if (network, self.up_as[0]) not in self.times:
            own, share = self.layer_times(network, hosts), dict(zip(hosts, self.up_as[0]))
            self.times[network, self.up_as[0]] = {
                host: own[max((h for h in hosts if share[h] == share[host]), key=lambda h: sum(own[h]))] for host in hosts}
        if self.up_as not in self.messages:
            self.messages[self.up_as] = self.link_times(sorted(host for pair in self.alike().values() for host in pair))
        return self.times[network, self.up_as[0]], self.messages[self.up_as]

    def layer_times(self, network, hosts):
        """All hosts measure at once, as they compute at once later."""
        bed.show(f"measures the layers of {network}")
        files = [self.work / f"profiles/{network}_{host}.json" for host in hosts]
        running = [subprocess.Popen([bed.TESTBED, "run", "-h", host, self.work / f"build/{network}_any", "--measure", file],
                                    stdout=subprocess.DEVNULL) for host, file in zip(hosts, files)]
        if any([one.wait() for one in running]):
            raise SystemExit(f"{network}: --measure failed")
        out = {}
        for host, file in zip(hosts, files):
            ms = {layer["layer"]: layer["ms"] for layer in json.loads(file.read_text())["units"][0]["layers"]}
            out[host] = [ms.get(name, 0) for name, *_ in self.table(network)]
        bed.show()
        return out

    def alike(self):
        """For each share of a core the first two hosts that have it, or one if there is no second."""
        out = {}
        for k, share in enumerate(self.up_as[0], 1):
            out[share] = [*out.get(share, []), f"h{k}"][:2]
        return out

    def link_times(self, hosts):
        """Each host has one rank, which has some of the layers."""
        bed.show(f"measures links between {', '.join(hosts)}")
        names = [name for name, *_ in self.table(LINKS)]
        cut_units = [names[k:k + 1] for k in range(1, len(hosts))]
        text = f"mapping<dev<0, threads<1>>, layers<{', '.join([names[0], *names[len(hosts):]])}>" + "".join(
            f", dev<{k}, threads<1>>, layers<{', '.join(cut_unit)}>" for k, cut_unit in enumerate(cut_units, 1)) + ">"
        file = self.work / "profiles/links.json"
        self.start(f"{LINKS}_any", hosts, "--mapping", text, "--measure", file)
        bed.show()
        return json.loads(file.read_text())

    def foretold(self, network, hosts, texts):
        """[(latency, ms of each rank's computing and messages, in turn)] for mappings whose ranks have `hosts` in order."""
        said = bed.call([self.work / f"build/{network}_any", "--foretell"], input="\n".join([*self.figures(network, hosts), *texts]) + "\n")
        return [(numbers[0], numbers[1:]) for numbers in ([*map(float, line.split())] for line in said.splitlines())]

    def candidates(self, network, hosts, objective):
        """[{what, latency_ms, fps, hosts, first, text}]: the mapping that --search finds for these hosts, and others to compare."""
        said = bed.call([self.work / f"build/{network}_any", "--find", objective], input="\n".join(self.figures(network, hosts)) + "\n")
        return [{"what": what, "latency_ms": float(ms), "fps": float(fps), "hosts": on.split(","), "first": first == "1", "text": text}
                for what, ms, fps, on, first, text in (line.split("\t") for line in said.splitlines())]

    def figures(self, network, hosts):
        """What foretell_mappings.cpp reads of hosts."""
        times, links = self.measured(network, hosts)
        alike, shares = self.alike(), dict(zip((f"h{k + 1}" for k in range(len(self.up_as[0]))), self.up_as[0]))
        about = {unit["host"]: unit for unit in links["units"]}
        between = {frozenset((c["from"], c["to"])): c for c in links["connections"]}
        lines = [str(len(hosts))]
        for host in hosts:
            units = [about[other] for other in alike[shares[host]]]
            for kind in "sending", "receiving":
                some = [unit[kind] for unit in units if kind in unit]
                lines.append(f"{mean(m['us'] for m in some)} {some and 1 / mean(1 / m['gbytes_per_s'] for m in some) or 0}")
            lines += [str(mean(unit["memory_gbytes_per_s"] for unit in units)), " ".join(map(str, times[host]))]
        for k, a in enumerate(hosts):
            for b in hosts[k + 1:]:
                first, second = alike[shares[a]], alike[shares[b]]
                link = between[frozenset(first if first == second else (first[0], second[0]))]
                lines.append("{us} {mbit_per_s}".format(**link))
        return lines


def mean(values):
    values = [*values]
    return statistics.mean(values) if values else 0


def write(layers, hosts, works):
    """The mapping of a network in which all hosts do `works`, [(kind with its first arguments, layer names, options)]; the
    first host has all other layers."""
    divided = {name for _, names, _ in works for name in names}
    text = f"mapping<dev<0, threads<1>>, layers<{', '.join(name for name, *_ in layers if name not in divided)}>"
    team = "ranks<0>, " + ", ".join(f"dev<{k}, threads<1>>" for k in range(1, hosts))
    for kind, names, options in works:
        if names:
            text += f", {team}, {kind}{', '.join([*names, *options])}>"
            team = f"ranks<{', '.join(map(str, range(hosts)))}>"
    return text + ", in_flight<1>>"


def size(layer):
    """Rows and columns of a layer's result; (1, 1) if it has none, or is the network's result."""
    _, operator, shape = layer
    numbers = [int(n) for n in shape.split("x")]
    return numbers[2:] if len(numbers) == 4 and operator != "Output" else [1, 1]


def front(layers, down, across=1):
    """Names of the layers from the first one on that have at least so many rows and columns."""
    out = []
    for layer in layers[1:]:
        rows, columns = size(layer)
        if rows < down or columns < across:
            break
        out.append(layer[0])
    return out


def channels(layers, but=()):
    """Names of the layers whose channels can be divided, without some."""
    return [name for name, operator, _ in layers if operator in CHANNELS and name not in but]


def tell_errors(pairs):
    """Prints how far predictions are from what was measured, given (predicted, measured)."""
    errors = sorted(abs(predicted / measured - 1) for predicted, measured in pairs)
    print(f"\npredictions: the error is {100 * statistics.median(errors):.1f} % in the median, {100 * errors[int(0.9 * len(errors))]:.1f} % "
          f"for nine of ten of {len(errors)}")
