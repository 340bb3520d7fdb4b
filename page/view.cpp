#include "page/view.hpp"

#include <charconv>

#include "vocabulary/printable.hpp"
#include "vocabulary/text.hpp"

namespace hindsight::page {
namespace {

/// So much of what was found is repeated.
constexpr std::size_t shown_bytes_max = 80;

std::string found(std::string_view text) { return "found \"" + printable(cut_text(text, shown_bytes_max)) + "\""; }

}  // namespace

std::string_view Parameters::text(const std::string& name) const {
  const auto it = query_.find(name);
  return it == query_.end() ? std::string_view() : std::string_view(it->second);
}

Result<std::uint64_t> Parameters::number(const std::string& name, std::uint64_t if_absent, std::uint64_t min, std::uint64_t max) const {
  const std::string_view given = text(name);
  if (given.empty()) return if_absent;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(given.data(), given.data() + given.size(), value);
  if (error != std::errc{} || end != given.data() + given.size() || value < min || value > max)
    return fail(ErrorKind::invalid,
                name + ": " + found(given) + "; allowed: a whole number from " + std::to_string(min) + " to " + std::to_string(max));
  return value;
}

Result<bool> Parameters::flag(const std::string& name) const {
  const std::string_view given = text(name);
  if (given.empty() || given == "false") return false;
  if (given == "true") return true;
  return fail(ErrorKind::invalid, name + ": " + found(given) + "; allowed: true, false");
}

}  // namespace hindsight::page
