// How networks give their results: which tensors mean what.
#pragma once

#include "dice/meta/library.hpp"
#include "dice/tensor/type.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dice::decode {

/// The last part of a network, which says what its results mean. In the shapes, B is the number of pictures of a batch, N
/// the number of boxes that the network proposes for each, and C the number of classes.
///
/// - classes: (B, C), a number for each class; also (C,) and (B, C, 1, 1).
/// - mask: (B, C, H, W), a number for each class and pixel; (B, 1, H, W), one number for each pixel, high where something
///   is; or (B, H, W) and (B, 1, H, W) of integers, the class of each pixel (ArgMax).
/// - yolov5: (B, N, 5 + C): centre x and y, width, height in pixels of the input, objectness, and a score for each class,
///   which objectness multiplies. YOLOv5's export, and others of this form.
/// - yolov8: (B, 4 + C, N) or (B, N, 4 + C): centre x and y, width, height in pixels, and a score for each class. The
///   exports of YOLOv8 and YOLO11.
/// - yolov10: (B, N, 6): the corners' x, y, x, y in pixels, score, class; or two results, (B, N, 4) and (B, N, C): the same
///   corners, and a score for each class. The network gives one box for each object, so boxes do not suppress one another.
///   The end-to-end exports of YOLOv10 and YOLO26, the second form without their TopK.
/// - ssd: two results, (B, N, 4) and (B, N, C), whose class 0 is the background. The first has the corners' x, y, x, y, from
///   0 to 1; or, if there are priors, what remains to be added to those (arXiv:1512.02325, equation 2).
enum class head : std::uint8_t { classes, mask, yolov5, yolov8, yolov10, ssd };

/// What scores are. Automatic: probabilities if all lie between 0 and 1 (and, for head::classes, sum up to 1); otherwise
/// logits, which softmax turns into probabilities, or the logistic function if there is only one number.
enum class scale : std::uint8_t { automatic, probabilities, logits };

/// How results are decoded. What is empty has the head's default.
struct options {
  /// Only boxes with a higher score are given: 0.25 (Ultralytics' `conf` in predict mode); SSD 0.5. SSD's paper and
  /// torchvision use 0.01 to measure a network's precision, but most of those boxes are wrong. Of a mask with one number for
  /// each pixel, class 1 is where the probability is higher: 0.5.
  std::optional<float> score{};
  /// Of two boxes that overlap more (intersection_over_union), one goes: yolov5 0.45 (its detect.py), yolov8 0.7 (`iou` of
  /// Ultralytics' predict mode), ssd 0.45 (arXiv:1512.02325, on inference time).
  std::optional<float> overlap{};
  /// The most boxes of a picture: yolov5 1000 (its detect.py), yolov8 and yolov10 300 (Ultralytics' `max_det`), ssd 200 (its
  /// paper). The most classes of a row: 5.
  std::optional<int> most{};
  bool across_classes = false;      ///< boxes also suppress those of other classes (Ultralytics' `agnostic_nms`)
  scale scores = scale::automatic;  ///< for classes, mask and ssd; those of the others are probabilities
  int classes = 0;                  ///< C, of ssd without the background; 0: what the shape says
  int width = 0;                    ///< of the network's input in pixels; only ssd needs it
  int height = 0;                   ///< likewise
  /// Of ssd, (N, 4): centre x and y, width, height, from 0 to 1. The variances are 0.1 and 0.2 (torchvision: the weights 10,
  /// 10, 5, 5).
  std::vector<float> priors{};
};

/// A result: row-major numbers, and their shape. `type.element` is the type in which they leave the network: integers, too,
/// are floats here.
struct result {
  const float* numbers = nullptr;  ///< type.elements() of them
  tensor::type type{};             ///< shape, and type of the numbers outside of the network
};

/// Why results of these types, in the order of the network's outputs, cannot be decoded so; or "". Can be asked before there
/// is a result.
DICE_API std::string what_is_wrong(head as, std::span<const tensor::type> results, const options& o = {});

/// `o` with the defaults of `as` in place of what is empty.
DICE_API options with_defaults(head as, options o);

}  // namespace dice::decode

#ifdef DICE_HEADER_ONLY
#include "dice/decode/head.ipp"
#endif
