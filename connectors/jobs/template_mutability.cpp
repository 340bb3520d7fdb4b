#include "connectors/jobs/template_mutability.hpp"

#include <charconv>
#include <optional>
#include <string>

#include "vocabulary/text.hpp"

namespace hindsight::connectors {
namespace {

/// The number that a text begins with: "36+" and "2-gke.100" are such.
std::optional<int> leading_number(std::string_view text) {
  int out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end != text.data() ? std::optional<int>(out) : std::nullopt;
}

/// "v1.36.2-gke.1" → 2.
int patch_of(std::string_view git_version) {
  const auto minor = git_version.find('.');
  const auto patch = minor == std::string_view::npos ? minor : git_version.find('.', minor + 1);
  return patch == std::string_view::npos ? 0 : leading_number(git_version.substr(patch + 1)).value_or(0);
}

}  // namespace

Result<TemplateMutability> template_mutability_of(std::string_view version) {
  const auto said = Json::parse(version, nullptr, false);
  const auto major = leading_number(text_member(said, "major"));
  const auto minor = leading_number(text_member(said, "minor"));
  if (!major || !minor) {
    return fail(ErrorKind::invalid, "/version: found " + std::string(cut_text(version, 200)) + ", allowed: an object with major and minor");
  }
  // A server may behave as an older one: during an upgrade whose way back is kept open.
  const auto behaves_as = leading_number(text_member(said, "emulationMinor")).value_or(*minor);
  if (*major > 1 || behaves_as > 36) return TemplateMutability::suspended;
  if (behaves_as < 36) return TemplateMutability::never_started;
  return patch_of(text_member(said, "gitVersion")) < 2 ? TemplateMutability::suspended_condition : TemplateMutability::suspended;
}

}  // namespace hindsight::connectors
