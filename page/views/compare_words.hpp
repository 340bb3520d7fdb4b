#pragma once

#include <string>

#include "replay/diff.hpp"

namespace hindsight::page {

/// How much the difference of one object matters (compare.hpp), and it as a sentence. `before` and `after`: all of its fields; null: it is
/// not there.
struct EffectOfChange {
  int effect = 0;
  std::string sentence;
};
[[nodiscard]] EffectOfChange effect_of(const replay::ObjectChange& change, const replay::Picture::FieldTexts* before,
                                       const replay::Picture::FieldTexts* after);

namespace effects {
inline constexpr int admission = 900, end = 800, activity = 750, configuration = 700, quota = 650, phase = 600, presence = 500, place = 450,
                     reason = 400, workload = 200, job = 150, counters = 100;
}  // namespace effects

}  // namespace hindsight::page
