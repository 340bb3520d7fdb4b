#pragma once

#include <cstdint>
#include <string>

namespace hindsight {

/// 123456 → "120.6 KiB".
[[nodiscard]] std::string human_bytes(std::uint64_t n);

}  // namespace hindsight
