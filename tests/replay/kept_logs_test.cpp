// Logs that earlier builds wrote lead to the same state for ever (design rule 1): what stands in a log is never read differently.

#include <gtest/gtest.h>

#include <cctype>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "admission/state/state_walk.hpp"
#include "events/sqlite_log.hpp"
#include "replay/past.hpp"
#include "tests/events/temporary_folder.hpp"

namespace hindsight::replay {
namespace {

const std::filesystem::path folder = "tests/replay/logs";

struct Kept {
  std::string file;
  std::uint64_t records = 0;
  std::uint64_t state = 0;
  std::uint64_t text = 0;  ///< Of the state as text, with all that decisions read of it.
};

std::uint64_t text_hash(const admission::Entities& entities) {
  StateHash h;
  h.add(std::string_view(state_text(entities, admission::StateDepth::outcomes)));
  return h.value();
}

std::vector<Kept> kept() {
  std::vector<Kept> out;
  std::ifstream in(folder / "states.txt");
  for (Kept k; in >> k.file >> std::dec >> k.records >> std::hex >> k.state >> k.text;) out.push_back(k);
  return out;
}

class KeptLogs : public ::testing::TestWithParam<Kept> {};

TEST_P(KeptLogs, LeadToTheStateThatTheyLedTo) {
  const test::TemporaryFolder temporary;
  const std::string path = temporary.file("log.db");
  std::filesystem::copy_file(folder / GetParam().file, path);
  const auto log = events::SqliteLog::open(path, {.read_only = true});
  ASSERT_TRUE(log) << log.error().message;
  ASSERT_EQ((*log)->last().value(), GetParam().records);
  Past past(**log, "default");
  const auto folded = past.go_to(GetParam().records);
  ASSERT_TRUE(folded) << folded.error().message;
  EXPECT_EQ(past.driver().state_hash(), GetParam().state);
  EXPECT_EQ(text_hash(past.driver().entities()), GetParam().text)
      << std::hex << text_hash(past.driver().entities()) << "; `hindsight replay --fields` of two builds shows what differs";
}

INSTANTIATE_TEST_SUITE_P(Files, KeptLogs, ::testing::ValuesIn(kept()), [](const auto& test) {
  std::string name = test.param.file;
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return name;
});

TEST(KeptLogFiles, EachFileIsNamedWithItsState) {
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) files += entry.path().extension() == ".db" ? 1 : 0;
  EXPECT_GT(files, 0U);
  EXPECT_EQ(kept().size(), files);
}

}  // namespace
}  // namespace hindsight::replay
