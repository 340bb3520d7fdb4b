// docs/limits.md says the same as vocabulary/limits.hpp: every limit once, with its number and unit, what it is of and where it is from.
#include "vocabulary/limits.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace hindsight {
namespace {

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" `");
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(" `") - first + 1);
}

/// The cells of each row that begins with a limit's name.
std::vector<std::vector<std::string>> rows_of_the_table() {
  std::vector<std::vector<std::string>> out;
  std::ifstream file("docs/limits.md");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("| `")) continue;
    std::vector<std::string> cells;
    std::istringstream row(line.substr(1));
    for (std::string cell; std::getline(row, cell, '|');) cells.push_back(trimmed(cell));
    out.push_back(std::move(cells));
  }
  return out;
}

TEST(Limits, StandInTheDocumentAsInTheCode) {
  std::map<std::string, const limits::Limit*> missing;
  for (const auto& limit : limits::all) {
    EXPECT_TRUE(missing.emplace(std::string(limit.name), &limit).second) << limit.name << " stands twice in limits::all";
    EXPECT_GT(limit.most, 0) << limit.name;
  }
  for (const auto& row : rows_of_the_table()) {
    ASSERT_EQ(row.size(), 5U) << row.front();
    const auto it = missing.find(row[0]);
    ASSERT_NE(it, missing.end()) << row[0] << " stands in docs/limits.md, and not, or not once, in the code";
    EXPECT_EQ(row[1], std::to_string(it->second->most)) << row[0];
    EXPECT_EQ(row[2], limits::name_of(it->second->unit)) << row[0];
    EXPECT_FALSE(row[3].empty()) << row[0] << ": of what?";
    EXPECT_FALSE(row[4].empty()) << row[0] << ": where is the number from?";
    missing.erase(it);
  }
  for (const auto& [name, limit] : missing) ADD_FAILURE() << name << " stands in the code, and not in docs/limits.md";
}

}  // namespace
}  // namespace hindsight
