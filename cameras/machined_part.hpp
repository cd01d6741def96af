#pragma once

#include "cameras/random_draw.hpp"

#include <opencv2/core.hpp>

#include <array>
#include <span>

/// The parts that `parts_scene` shows: their shapes, their defects and what lies on them. Units are
/// the part's radius, its centre is the origin. Part of the frozen look, see parts_scene.hpp.
namespace hyperframes {

inline constexpr int brushed_rows = 256;  ///< of the pattern of brushed metal
inline constexpr int grain_starts = 8192; ///< different rows of sensor noise

enum class part_defect { none, scratch, missing_hole, chipped };
enum class part_shape { gear, flange, plate };

struct part_spot {
  double x = 0, y = 0, radius = 0; ///< in radii of the part
};

/// All that varies from picture to picture.
struct machined_part {
  part_defect what = part_defect::none;
  part_shape shape = part_shape::gear;
  double x = 0, y = 0, radius = 0, angle = 0;  ///< pixels, radians
  std::array<int, 3> tint{};                   ///< B G R, 256 is neutral
  int gain = 256, gain_x = 0, gain_y = 0;      ///< 256ths; the last two from one side to the other
  int texture_x = 0, texture_y = 0, noise = 0; ///< where in the prepared patterns to start
};

/// The first thing that is drawn for a picture, so that the truth is known without the rest.
part_defect draw_defect(random_draw& draw);
machined_part draw_part(random_draw& draw, double width, double height);

/// Maps a part's own coordinates to a canvas around its centre, and draws there.
class part_pencil {
public:
  part_pencil(cv::Mat canvas, const machined_part& p, double centre_x, double centre_y);

  void polygon(std::span<const part_spot> corners, int value);
  void disc(const part_spot& s, int value);
  void ring(const part_spot& s, double thickness, int value);
  void line(std::span<const part_spot> corners, double thickness, int value);

private:
  cv::Point at(double x, double y) const;
  int length(double units) const;
  int pixels(double units) const;

  cv::Mat canvas_;
  double radius_, sine_, cosine_, x_, y_;
};

/// Where metal is: 255.
void draw_body(part_pencil& pen, const machined_part& p, random_draw& draw);

/// What is on the metal: 128 is nothing, more is brighter.
void draw_marks(part_pencil& pen, const machined_part& p, random_draw& draw);

} // namespace hyperframes
