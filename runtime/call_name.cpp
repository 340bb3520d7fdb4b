#include "runtime/call_name.hpp"

#include <cstdlib>
#include <filesystem>

namespace hindsight::runtime {

namespace {

namespace fs = std::filesystem;

/// The first executable of this name that the PATH has; empty: none.
fs::path found_in_path(const fs::path& name) {
  const char* variable = std::getenv("PATH");
  if (variable == nullptr) return {};
  std::string_view folders = variable;
  while (!folders.empty()) {
    const auto end = folders.find(':');
    fs::path candidate = fs::path(folders.substr(0, end)) / name;
    std::error_code ignored;
    if (fs::is_regular_file(candidate, ignored)) return candidate;
    folders.remove_prefix(end == std::string_view::npos ? folders.size() : end + 1);
  }
  return {};
}

}  // namespace

std::string call_name() {
  std::error_code error;
  const fs::path binary = fs::read_symlink("/proc/self/exe", error);
  if (error) return "hindsight";
  const fs::path found = found_in_path(binary.filename());
  if (!found.empty() && fs::equivalent(found, binary, error) && !error) return shell_word(binary.filename().string());
  const fs::path here = fs::current_path(error);
  const fs::path relative = error ? fs::path() : binary.lexically_relative(here);
  if (relative.empty() || *relative.begin() == "..") return shell_word(binary.string());
  return shell_word(relative.has_parent_path() ? relative.string() : "./" + relative.string());
}

std::string shell_word(std::string_view text) {
  constexpr std::string_view safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,+@%";
  if (!text.empty() && text.find_first_not_of(safe) == std::string_view::npos) return std::string(text);
  std::string word = "'";
  for (const char c : text) {
    if (c == '\'')
      word += "'\\''";
    else
      word += c;
  }
  return word + "'";
}

}  // namespace hindsight::runtime
