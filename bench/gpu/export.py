#!/usr/bin/env python3
"""export.py FOLDER NAME…: networks of test/networks/architectures.py from PyTorch, with seeded weights: for each NAME.onnx,
NAME_in.npy, NAME_out.npy and NAME.pt, the module itself. Existing files are kept."""
import pathlib
import sys
import warnings

import numpy as np
import torch

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "test/networks"))
import architectures  # noqa: E402
import make_models  # noqa: E402


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    warnings.filterwarnings("ignore")
    for name in sys.argv[2:]:
        path = folder / f"{name}.onnx"
        if path.exists():
            continue
        small = name in architectures.SMALL
        network = (architectures.SMALL if small else architectures.FULL)[name]
        net, given, wanted = make_models.build(name, network, 3 if small else 2)
        draft = folder / f"{name}.draft"
        try:
            make_models.export_torchscript(net, given[:1], draft, network)
        except Exception as problem:  # a PyTorch without this exporter
            print(f"{name}: the TorchScript exporter fails ({problem}), so by dynamo", flush=True)
            draft = path
            make_models.export_dynamo(net, given[:1], path, network)
        np.save(folder / f"{name}_in.npy", given.numpy())
        [result] = wanted.values()
        np.save(folder / f"{name}_out.npy", result.numpy())
        torch.save(net, folder / f"{name}.pt")
        draft.rename(path)  # last, so that an existing file is complete
        print(f"{name}: {path.stat().st_size / 1e6:.1f} MB", flush=True)


if __name__ == "__main__":
    main()
