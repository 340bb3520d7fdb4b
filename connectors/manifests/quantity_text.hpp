#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hindsight::connectors::manifests {

/// A quantity as the API server keeps those of containers: exact, in whole milli-units (finer ones were rounded up, away from zero), and at
/// most 2⁶³ − 1 units.
struct MilliQuantity {
  enum class Form : unsigned char { decimal, binary, exponent };  ///< "1500m", "2Gi", "1e3".
  __extension__ using Millis = __int128;

  Millis millis = 0;
  Form form = Form::decimal;

  [[nodiscard]] bool is_whole() const { return millis % 1000 == 0; }
  friend bool operator==(const MilliQuantity& a, const MilliQuantity& b) { return a.millis == b.millis; }
};

/// Nothing: the text is no quantity.
[[nodiscard]] std::optional<MilliQuantity> read_milli_quantity(std::string_view text);

/// The text that the API server stores and shows, in the form in which it was written: "1000m" → "1", "1024Mi" → "1Gi", "0.1Ki" →
/// "102400m".
[[nodiscard]] std::string canonical_text(const MilliQuantity& quantity);

}  // namespace hindsight::connectors::manifests
