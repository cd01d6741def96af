#!/usr/bin/python3
"""Trains the demo's model on pictures of the `parts` scene and writes it as ONNX.

    train_parts.py EXPORT_PARTS OUT.onnx [--frames N] [--epochs N] [--threads N] [--work DIR]

EXPORT_PARTS is the program built from export_parts.cpp. Needs Debian's python3-torch and python3-onnx.
The same arguments give the same model on the same machine. Seeds of the pictures: training 1000000
and up, choosing the best epoch 2000000 and up, the measured accuracy 3000000 and up.
"""
import argparse
import os
import random
import subprocess
import sys
import time

import numpy
import torch
from torch import nn

SIDE = 96
LABELS = ["good", "scratch", "missing_hole", "chipped"]
# Mostly what the demo shows; the others keep the model from leaning on one shape of picture.
TRAINING_SIZES = ["640x480", "640x480", "320x240", "640x480", "1280x720"]


class PartsNet(nn.Module):
    """Five convolutions, then what is anywhere (maximum) and how much of it there is (mean)."""

    def __init__(self):
        super().__init__()

        def layer(inputs, outputs, stride=1):
            return [nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True)]

        self.features = nn.Sequential(
            *layer(3, 12, 2),    # 48
            *layer(12, 24, 2),   # 24
            *layer(24, 32),
            nn.MaxPool2d(2),     # 12
            *layer(32, 48),
            *layer(48, 64, 2))   # 6
        self.mean = nn.AvgPool2d(6)
        self.most = nn.MaxPool2d(6)
        self.dropout = nn.Dropout(0.1)
        self.classify = nn.Linear(128, len(LABELS))

    def forward(self, x):
        x = self.features(x)
        x = torch.cat([self.mean(x), self.most(x)], 1)
        return self.classify(self.dropout(torch.flatten(x, 1)))


def pictures(program, work, name, frames, first_seed, sizes):
    """@returns uint8 pixels [frames, 3, SIDE, SIDE] and labels [frames]."""
    path = os.path.join(work, name)
    subprocess.run([program, path, str(frames), str(first_seed), str(SIDE), *sizes], check=True)
    pixels = numpy.fromfile(path + ".pixels", numpy.uint8).reshape(-1, 3, SIDE, SIDE)
    labels = numpy.fromfile(path + ".labels", numpy.uint8).astype(numpy.int64)
    assert len(pixels) == len(labels) == frames
    return torch.from_numpy(pixels), torch.from_numpy(labels)


def varied(batch):
    """Mirrors, turns upside down and relights pictures; none of it changes what is wrong with a part."""
    if random.random() < 0.5:
        batch = batch.flip(3)
    if random.random() < 0.5:
        batch = batch.flip(2)
    n = len(batch)
    gain = torch.empty(n, 1, 1, 1).uniform_(0.85, 1.15)
    offset = torch.empty(n, 1, 1, 1).uniform_(-0.05, 0.05)
    return (batch * gain + offset).clamp_(0, 1)


def confusion(model, pixels, labels):
    """@returns [truth, said] counts."""
    model.eval()
    counts = numpy.zeros((len(LABELS), len(LABELS)), int)
    with torch.no_grad():
        for i in range(0, len(pixels), 256):
            said = model(pixels[i:i + 256].float() / 255).argmax(1)
            numpy.add.at(counts, (labels[i:i + 256].numpy(), said.numpy()), 1)
    return counts


def accuracy(counts):
    return numpy.trace(counts) / counts.sum()


def train(model, pixels, labels, check_pixels, check_labels, epochs, batch_size):
    steps = epochs * (len(pixels) // batch_size)
    optimiser = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=1e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, max_lr=4e-3, total_steps=steps)
    loss_of = nn.CrossEntropyLoss(label_smoothing=0.02)
    best, best_state = 0.0, None
    for epoch in range(epochs):
        model.train()
        start, total = time.time(), 0.0
        order = torch.randperm(len(pixels))
        for i in range(0, len(order) - batch_size + 1, batch_size):
            chosen = order[i:i + batch_size]
            optimiser.zero_grad()
            loss = loss_of(model(varied(pixels[chosen].float() / 255)), labels[chosen])
            loss.backward()
            optimiser.step()
            schedule.step()
            total += loss.item()
        right = accuracy(confusion(model, check_pixels, check_labels))
        print(f"epoch {epoch + 1}/{epochs}: loss {total * batch_size / len(pixels):.4f}, "
              f"accuracy {right:.4f}, {time.time() - start:.0f} s", flush=True)
        if right >= best:
            best, best_state = right, {k: v.clone() for k, v in model.state_dict().items()}
    model.load_state_dict(best_state)


def export(model, path):
    model.eval()
    torch.onnx.export(model, torch.zeros(1, 3, SIDE, SIDE), path, opset_version=11,
                      input_names=["image"], output_names=["logits"],
                      dynamic_axes={"image": {0: "N"}, "logits": {0: "N"}})
    labels = os.path.splitext(path)[0] + ".txt"
    with open(labels, "w") as out:
        out.write("\n".join(LABELS) + "\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("export_parts")
    parser.add_argument("out")
    parser.add_argument("--frames", type=int, default=24000)
    parser.add_argument("--epochs", type=int, default=16)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--work", default="/tmp")
    options = parser.parse_args()

    random.seed(1)
    torch.manual_seed(1)
    torch.set_num_threads(options.threads)
    print("rendering", flush=True)
    pixels, labels = pictures(options.export_parts, options.work, "parts_train", options.frames, 1000000, TRAINING_SIZES)
    check = pictures(options.export_parts, options.work, "parts_check", 3000, 2000000, TRAINING_SIZES)
    model = PartsNet()
    print(f"{sum(p.numel() for p in model.parameters())} parameters, classes {torch.bincount(labels).tolist()}", flush=True)
    train(model, pixels, labels, *check, options.epochs, batch_size=64)
    export(model, options.out)
    for size in ["640x480", "320x240", "1280x720"]:
        held_out = pictures(options.export_parts, options.work, "parts_held_out", 6000, 3000000, [size])
        counts = confusion(model, *held_out)
        print(f"held out, {size}: accuracy {accuracy(counts):.4f} over {counts.sum()} pictures")
        print("  truth \\ said  " + "  ".join(f"{name:>12}" for name in LABELS))
        for name, row in zip(LABELS, counts):
            print(f"  {name:>12}  " + "  ".join(f"{n:12d}" for n in row))
    return 0


if __name__ == "__main__":
    sys.exit(main())
