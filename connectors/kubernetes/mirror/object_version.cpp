#include "connectors/kubernetes/mirror/object_version.hpp"

#include <charconv>
#include <functional>
#include <system_error>

namespace hindsight::connectors::kubernetes {

ObjectVersion::ObjectVersion(std::string_view text) {
  if (text.empty()) return;
  const char* const end = text.data() + text.size();
  const auto [read, problem] = std::from_chars(text.data(), end, bits_);
  const bool is_number = problem == std::errc() && read == end && text.front() != '0' && !is_other();
  if (!is_number) bits_ = std::hash<std::string_view>()(text) | other;
}

}  // namespace hindsight::connectors::kubernetes
