#pragma once

#include <sys/types.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace hindsight::connectors::kubernetes::testing {

/// The number that stands in a file; waits for nothing.
inline pid_t pid_in(const std::filesystem::path& file) {
  pid_t out = 0;
  std::ifstream(file) >> out;
  return out;
}

/// Whether the process lives. One that has ended and was not waited for by its parent does not.
inline bool is_running(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text);
  const std::size_t name_end = text.rfind(')');
  if (pid <= 0 || name_end == std::string::npos || name_end + 2 >= text.size()) return false;
  return text[name_end + 2] != 'Z' && text[name_end + 2] != 'X';
}

}  // namespace hindsight::connectors::kubernetes::testing
