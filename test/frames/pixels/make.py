#!/usr/bin/env python3
"""make.py: writes pictures as cameras give them, and what others make of them (needs ffmpeg, OpenCV and numpy; run once, with
ffmpeg 5.1 and OpenCV 5.0).

FORMAT.raw: the picture ../../app/pictures/colour.png, 46×36, as ffmpeg writes it in that format. FORMAT.npy: its samples from 0 to
255 as OpenCV reads them: (1, 3, 36, 46), red, green, blue.
"""
import pathlib
import subprocess

import cv2
import numpy as np

HERE = pathlib.Path(__file__).parent
WIDTH, HEIGHT = 46, 36

READERS = {
    "rgb24": lambda raw: raw.reshape(HEIGHT, WIDTH, 3),
    "bgr24": lambda raw: cv2.cvtColor(raw.reshape(HEIGHT, WIDTH, 3), cv2.COLOR_BGR2RGB),
    "gray8": lambda raw: cv2.cvtColor(raw.reshape(HEIGHT, WIDTH), cv2.COLOR_GRAY2RGB),
    "nv12": lambda raw: cv2.cvtColor(raw.reshape(HEIGHT * 3 // 2, WIDTH), cv2.COLOR_YUV2RGB_NV12),
    "yuv420p": lambda raw: cv2.cvtColor(raw.reshape(HEIGHT * 3 // 2, WIDTH), cv2.COLOR_YUV2RGB_I420),
    "yuyv422": lambda raw: cv2.cvtColor(raw.reshape(HEIGHT, WIDTH, 2), cv2.COLOR_YUV2RGB_YUYV),
}

for name, read in READERS.items():
    pixels = "gray" if name == "gray8" else name
    raw = subprocess.run(["ffmpeg", "-loglevel", "error", "-i", HERE.parent.parent / "app/pictures/colour.png", "-f", "rawvideo", "-pix_fmt", pixels,
                          "-"], check=True, capture_output=True).stdout
    (HERE / f"{name}.raw").write_bytes(raw)
    samples = read(np.frombuffer(raw, np.uint8)).transpose(2, 0, 1)[np.newaxis]
    np.save(HERE / f"{name}.npy", np.ascontiguousarray(samples))
