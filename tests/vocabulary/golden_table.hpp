#pragma once

#include <fstream>
#include <string>
#include <vector>

namespace hindsight::test {

/// The rows of a table of expected values: fields between bars, comments begin with '#'. The path is relative to the repository.
inline std::vector<std::vector<std::string>> golden_table(const std::string& path) {
  std::vector<std::vector<std::string>> rows;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with('#')) continue;
    auto& fields = rows.emplace_back(1);
    for (const char c : line) {
      if (c == '|') {
        fields.emplace_back();
      } else {
        fields.back() += c;
      }
    }
  }
  return rows;
}

}  // namespace hindsight::test
