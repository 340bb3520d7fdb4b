#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hindsight::connectors::kubernetes {

/// Decodes standard base64; line breaks inside are allowed. Nothing when it is not base64.
[[nodiscard]] std::optional<std::string> decode_base64(std::string_view text);
[[nodiscard]] std::string encode_base64(std::string_view bytes);

}  // namespace hindsight::connectors::kubernetes
