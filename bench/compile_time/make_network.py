#!/usr/bin/env python3
"""make_network.py N [--ranks R] [-o DIR]: writes net.hpp, a residual network of N layers in the form that onnx2hpp writes.

Four stages of residual blocks (convolution, Relu, convolution, Add, Relu), each with half the height and width and twice the
channels of the one before; and two files with a mapping `plan` on R ranks. In plan.inc each has a slice, with one back-and-forth: the last
two layers of the slice of rank R-2 are computed by rank 2. In scattered.inc each layer is on a random rank.
"""
import argparse
import pathlib
import random


class Network:
    def __init__(self, size):
        self.size, self.names, self.text, self.offset = size, [], [], 0

    def room(self):
        return self.size - 1 - len(self.names)  # the output is the last

    def add(self, name, op, operands, shape, parameters=()):
        """Append a layer; parameters are shapes.  Returns its id."""
        places = []
        for extents in parameters:
            places.append("{%d, {%s}}" % (self.offset, ", ".join(map(str, extents))))
            count = 1
            for e in extents:
                count *= e
            self.offset += (4 * count + 63) // 64 * 64
        at, shape = len(self.names), ", ".join(map(str, shape))
        listed = "{%s}" % ", ".join(places) if places else ""
        self.names.append(name)
        self.text.append(f"""struct {name} final {{
  static constexpr int id = {at};
  static constexpr ::std::string_view name = "{name}", onnx_name = "/{name}";
  static constexpr ::dice::ops::{op.replace("SHAPE", shape)};
  static constexpr ::std::array<int, {len(operands)}> operands{{{", ".join(map(str, operands))}}};
  static constexpr ::std::array<::dice::graph::parameter, {len(places)}> parameters{{{listed}}};
  static constexpr ::dice::tensor::shape result{{{shape}}};
}};
template <> struct layer_at<{at}> {{ using type = {name}; }};
""")
        return at

    def conv(self, name, x, inputs, channels, pixels, kernel, stride=1):
        pad = kernel // 2
        op = (f"conv op{{.channels = {channels}, .kernel = {{{kernel}, {kernel}}}, .strides = {{{stride}, {stride}}}, "
              f".dilations = {{1, 1}}, .pads = {{{pad}, {pad}, {pad}, {pad}}}, .group = 1, .bias = true}}")
        return self.add(name, op, [x], (1, channels, pixels, pixels), [(channels, inputs, kernel, kernel), (channels,)])


def residual(size):
    """A network of exactly `size` layers."""
    net = Network(size)
    pixels, channels = 56, 16
    x = net.add("image", "input op{.extents = {SHAPE}}", [], (1, 3, pixels, pixels))
    x = net.conv("conv0", x, 3, channels, pixels, 3)
    block, each = 0, max(1, size // 4)
    while net.room() > 0:
        block += 1
        stage = min(3, len(net.names) // each)
        if 16 << stage != channels and net.room() >= 6:
            x = net.conv(f"down{stage}", x, channels, 16 << stage, pixels // 2, 3, 2)
            channels, pixels = 16 << stage, pixels // 2
        shape = (1, channels, pixels, pixels)
        if net.room() >= 5:
            skip = x
            x = net.conv(f"conv{block}_a", x, channels, channels, pixels, 1 if block % 2 else 3)
            x = net.add(f"relu{block}_a", "relu op{}", [x], shape)
            x = net.conv(f"conv{block}_b", x, channels, channels, pixels, 3)
            x = net.add(f"add{block}", "add op{}", [x, skip], shape)
            x = net.add(f"relu{block}_b", "relu op{}", [x], shape)
        elif net.room():
            x = net.add(f"relu{block}", "relu op{}", [x], shape)
    net.add("features", "output op{}", [x], (1, channels, pixels, pixels))
    assert len(net.names) == size
    return net


def header(net, ranks):
    cuts = [round(net.size * r / ranks) for r in range(ranks + 1)]
    rows = []
    for r in range(ranks):
        first, last = cuts[r], cuts[r + 1] - 1
        owned = f"dice::range<net::{net.names[first]}, net::{net.names[last - 2 if r == ranks - 2 else last]}>"
        if r == 2:
            back = cuts[ranks - 1] - 1
            owned += f", net::{net.names[back - 1]}, net::{net.names[back]}"
        rows.append(f"dice::dev<{r}, dice::cpu>, dice::layers<{owned}>")
    return ("#pragma once\n\n#include <dice/graph/graph.hpp>\n\nnamespace net {\n\ntemplate <int Id> struct layer_at;\n\n"
            + "\n".join(net.text) + f"""
struct network final {{
  static constexpr int size = {net.size};
  static constexpr ::std::string_view name = "net";
  static constexpr ::dice::graph::weights_file weights{{.file = "net.safetensors", .structure = "{"0" * 64}", .bytes = {net.offset}}};
  template <int Id> using layer = typename layer_at<Id>::type;
}};

}}  // namespace net
""", "using plan = dice::mapping<\n    " + ",\n    ".join(rows) + ">;\n")


def scattered(net, ranks):
    dice = random.Random(1)
    owned = [[] for _ in range(ranks)]
    for at, name in enumerate(net.names):
        owned[at if at < ranks else dice.randrange(ranks)].append(f"net::{name}")
    return "using plan = dice::mapping<\n    " + ",\n    ".join(
        f"dice::dev<{r}, dice::cpu>, dice::layers<{', '.join(names)}>" for r, names in enumerate(owned)) + ">;\n"


def write(size, ranks, folder):
    layers = residual(size)
    network, plan = header(layers, ranks)
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "net.hpp").write_text(network)
    (folder / "plan.inc").write_text(plan)
    (folder / "scattered.inc").write_text(scattered(layers, ranks))


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("size", type=int)
    arguments.add_argument("--ranks", type=int, default=8)
    arguments.add_argument("-o", "--output", default=".")
    given = arguments.parse_args()
    write(given.size, given.ranks, given.output)
