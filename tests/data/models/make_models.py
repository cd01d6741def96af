#!/usr/bin/python3
"""Writes the tiny networks that the tests of actors/infer run, beside this script.

Needs Debian's python3-onnx. What each computes stands in its function; the tests hold the values that
follow from it by hand.
"""
import os

import numpy
from onnx import TensorProto, checker, helper, numpy_helper

FLOAT, HALF, BYTE, INT = TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.UINT8, TensorProto.INT64
HERE = os.path.dirname(os.path.abspath(__file__))


def constant(name, values, dtype=numpy.float32):
    return numpy_helper.from_array(numpy.array(values, dtype), name)


def write(name, nodes, inputs, outputs, constants=(), metadata=None):
    value = lambda v: helper.make_tensor_value_info(v[0], v[1], v[2])
    graph = helper.make_graph(nodes, name, [value(v) for v in inputs], [value(v) for v in outputs], list(constants))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 11)], producer_name="make_models.py")
    model.ir_version = 6
    if metadata:
        helper.set_model_props(model, metadata)
    checker.check_model(model)
    with open(os.path.join(HERE, name + ".onnx"), "wb") as out:
        out.write(model.SerializeToString())


def node(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs, outputs, **attributes)


def means(batch, out="logits"):
    """The mean of each channel: three logits."""
    return ([node("GlobalAveragePool", ["image"], ["mean"]), node("Flatten", ["mean"], [out], axis=1)],
            [("image", FLOAT, [batch, 3, 8, 8])], [(out, FLOAT, [batch, 3])])


def classify():
    write("means_dynamic", *means("N"), metadata={"names": "{0: 'red', 1: \"green\", 2: 'blue'}"})
    write("means_batch4", *means(4))
    write("means_batch1", *means(1))


def any_size():
    write("means_any_size", means("N")[0], [("image", FLOAT, ["N", 3, "H", "W"])], [("logits", FLOAT, ["N", 3])])


def layouts_and_types():
    """NHWC bytes; halves; one channel."""
    write("means_uint8_nhwc",
          [node("Cast", ["image"], ["f"], to=FLOAT), node("ReduceMean", ["f"], ["logits"], axes=[1, 2], keepdims=0)],
          [("image", BYTE, ["N", 8, 8, 3])], [("logits", FLOAT, ["N", 3])])
    write("means_float16", [node("ReduceMean", ["image"], ["logits"], axes=[2, 3], keepdims=0)],
          [("image", HALF, ["N", 3, 8, 8])], [("logits", HALF, ["N", 3])])
    write("mean_gray", [node("GlobalAveragePool", ["image"], ["mean"]), node("Flatten", ["mean"], ["score"], axis=1)],
          [("image", FLOAT, ["N", 1, 8, 8])], [("score", FLOAT, ["N", 1])])


def time_axis():
    """Mean of each of 3 frames: which of them is the brightest."""
    write("brightest_of_3", [node("ReduceMean", ["clip"], ["logits"], axes=[2, 3, 4], keepdims=0)],
          [("clip", FLOAT, ["N", 3, 3, 8, 8])], [("logits", FLOAT, ["N", 3])])
    write("brightest_of_t", [node("ReduceMean", ["clip"], ["logits"], axes=[2, 3, 4], keepdims=0)],
          [("clip", FLOAT, ["N", "T", 3, 8, 8])], [("logits", FLOAT, ["N", "T"])])
    write("channels_before_time", [node("ReduceMean", ["clip"], ["logits"], axes=[2, 3, 4], keepdims=0)],
          [("clip", FLOAT, ["N", 3, 5, 8, 8])], [("logits", FLOAT, ["N", 3])])


def two_inputs_two_outputs():
    """means, and means * gain, one for all pictures; means, and means with two values more for each."""
    nodes, inputs, outputs = means("N", "plain")
    write("gain", nodes + [node("Mul", ["plain", "gain"], ["scaled"])],
          inputs + [("gain", FLOAT, [1, 3])], outputs + [("scaled", FLOAT, ["N", 3])])
    nodes, inputs, outputs = means(2, "plain")
    write("joined", nodes + [node("Concat", ["plain", "more"], ["all"], axis=1)],
          inputs + [("more", FLOAT, [2, 2])], outputs + [("all", FLOAT, [2, 5])])


def whole():
    """One vector for all frames: the mean over the batch."""
    write("means_of_all", [node("ReduceMean", ["image"], ["logits"], axes=[0, 2, 3], keepdims=0)],
          [("image", FLOAT, ["N", 3, 8, 8])], [("logits", FLOAT, [3])])


def table_of_mean(still, moving, out):
    """still + moving * mean of the channels, for tables [rows, columns]; in operators that OpenCV 4.6 reads."""
    weights = numpy.repeat(moving.reshape(-1, 1, 1, 1) / 3, 3, axis=1)
    return ([node("Conv", ["mean", out + "_weights", out + "_bias"], [out + "_flat"], kernel_shape=[1, 1]),
             node("Reshape", [out + "_flat", out + "_shape"], [out])],
            [constant(out + "_weights", weights), constant(out + "_bias", still.reshape(-1)),
             constant(out + "_shape", [-1, *still.shape], numpy.int64)])


def yolo():
    """32x32 pictures: 21 cells. Boxes are constant, their scores are multiplied by the picture's mean."""
    cells = 21

    def boxes(rows):
        all_boxes = numpy.zeros((cells * 3, 7), numpy.float32)
        for place, row in rows.items():
            all_boxes[place] = row
        return all_boxes

    # centre x, centre y, width, height, objectness, two classes
    rows = {
        3: [16, 16, 8, 12, 1.0, 0.9, 0.1],
        4: [17, 16, 8, 12, 1.0, 0.8, 0.1],   # overlaps the first: suppressed
        7: [16, 16, 8, 12, 1.0, 0.1, 0.7],   # another class: kept
        9: [4, 4, 16, 16, 1.0, 0.6, 0.0],    # reaches out of the picture: clipped
        12: [28, 28, 4, 4, 0.5, 0.4, 0.0],   # score 0.2: dropped
    }
    v5 = boxes(rows)
    v8 = v5[:cells, [0, 1, 2, 3, 5, 6]].copy()
    v8[12, 4] = 0.2
    scored5 = numpy.array([0, 0, 0, 0, 1, 0, 0], numpy.float32)
    scored8 = numpy.array([0, 0, 0, 0, 1, 1], numpy.float32)
    picture = [("image", FLOAT, ["N", 3, 32, 32])]

    def build(name, table, scored, shape, transpose):
        # table * (1 - scored) + table * scored * mean, as a convolution of the channels' means
        still, moving = table * (1 - scored), table * scored
        if transpose:
            still, moving = still.T, moving.T
        nodes, constants = table_of_mean(still, moving, "boxes")
        write(name, [node("GlobalAveragePool", ["image"], ["mean"])] + nodes, picture, [("boxes", FLOAT, shape)], constants)

    build("yolov5", v5, scored5, ["N", 63, 7], False)
    build("yolov8", v8, scored8, ["N", 6, 21], True)
    build("yolov8_open", v8, scored8, ["N", 6, "cells"], True)


def ssd():
    """Two boxes; scores of background, cat, dog."""
    boxes = numpy.array([[0.25, 0.25, 0.75, 0.5], [0, 0, 0.5, 0.5]], numpy.float32)
    scores = numpy.array([[0.1, 0.9, 0.0], [0.2, 0.1, 0.7]], numpy.float32)
    box_nodes, box_constants = table_of_mean(boxes, 0 * boxes, "boxes")
    score_nodes, score_constants = table_of_mean(0 * scores, scores, "scores")
    write("ssd", [node("GlobalAveragePool", ["image"], ["mean"])] + box_nodes + score_nodes,
          [("image", FLOAT, ["N", 3, 8, 8])], [("scores", FLOAT, ["N", 2, 3]), ("boxes", FLOAT, ["N", 2, 4])],
          box_constants + score_constants)
    rows = numpy.array([[0, 1, 0.9, 0.25, 0.25, 0.75, 0.5], [0, 2, 0.7, 0, 0, 0.5, 0.5], [-1, 0, 0, 0, 0, 0, 0]], numpy.float32)
    nodes, constants = table_of_mean(rows, 0 * rows, "rows")
    constants[-1] = constant("rows_shape", [1, 1, 3, 7], numpy.int64)
    write("ssd_rows", [node("GlobalAveragePool", ["image"], ["mean"])] + nodes,
          [("image", FLOAT, [1, 3, 8, 8])], [("rows", FLOAT, [1, 1, 3, 7])], constants)


def faults():
    """fails: looks a row up by the picture's mean; a mean of 3 or more is outside of the table.
    divides: 0/0 for a black picture."""
    write("fails", [node("ReduceMean", ["image"], ["mean"], axes=[1, 2, 3], keepdims=0),
                    node("Cast", ["mean"], ["index"], to=INT), node("Gather", ["table", "index"], ["logits"], axis=0)],
          [("image", FLOAT, ["N", 3, 8, 8])], [("logits", FLOAT, ["N", 2])], [constant("table", [[1, 0], [0, 1], [1, 1]])])
    write("divides", [node("GlobalAveragePool", ["image"], ["m"]), node("Flatten", ["m"], ["mean"], axis=1),
                      node("Div", ["mean", "mean"], ["logits"])],
          [("image", FLOAT, ["N", 3, 8, 8])], [("logits", FLOAT, ["N", 3])])
    write("five_channels", [node("GlobalAveragePool", ["image"], ["out"])],
          [("image", FLOAT, ["N", 5, 8, 8])], [("out", FLOAT, ["N", 5, 1, 1])])
    write("no_picture", [node("Identity", ["words"], ["out"])], [("words", FLOAT, ["N", 7])], [("out", FLOAT, ["N", 7])])


def large_outputs():
    """The picture, 64 times beside and below itself: 3 MiB of floats for each."""
    write("tiled", [node("Tile", ["image", "times"], ["tiles"])],
          [("image", FLOAT, ["N", 3, 8, 8])], [("tiles", FLOAT, ["N", 3, 512, 512])],
          [constant("times", [1, 1, 64, 64], numpy.int64)])


def damaged():
    """The beginning of a model."""
    with open(os.path.join(HERE, "yolov8.onnx"), "rb") as whole, open(os.path.join(HERE, "damaged.onnx"), "wb") as out:
        out.write(whole.read(100))


if __name__ == "__main__":
    classify()
    any_size()
    layouts_and_types()
    time_axis()
    two_inputs_two_outputs()
    whole()
    yolo()
    ssd()
    faults()
    large_outputs()
    damaged()
