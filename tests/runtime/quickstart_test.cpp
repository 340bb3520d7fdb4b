// The quick start is played by threads, and its log is the same each time.

#include "runtime/quickstart.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "events/memory_log.hpp"
#include "events/record.hpp"

namespace hindsight::runtime {
namespace {

/// The records that the quick start leaves behind, as bytes.
std::vector<std::vector<std::byte>> records_of_play(const std::string& files) {
  auto input = connectors::manifests::read_input({files});
  if (!input) throw std::runtime_error(input.error().message);
  auto play = play_of(std::move(*input), {});
  if (!play) throw std::runtime_error(play.error().message);
  events::MemoryLog log;
  std::ostringstream out, err;
  if (auto ok = run_quickstart(log, std::move(*play), {.log_file = "x.db", .program = "hindsight"}, out, err, std::stop_token()); !ok)
    throw std::runtime_error(ok.error().message);
  EXPECT_EQ(err.str(), "");
  events::RecordBatch batch;
  if (!log.read(1, {.records = 1'000'000, .bytes = std::size_t{1} << 30U}, batch)) throw std::runtime_error("the log cannot be read");
  std::vector<std::vector<std::byte>> records;
  for (const auto stored : batch) records.emplace_back(stored.bytes.begin(), stored.bytes.end());
  return records;
}

TEST(QuickStart, LeavesTheSameRecordsEachTime) {
  for (const char* files : {"examples/quickstart", "examples/topology"}) {
    const auto first = records_of_play(files);
    ASSERT_GT(first.size(), 100U);
    for (int run = 0; run < 4; ++run) {
      const auto again = records_of_play(files);
      const auto [a, b] = std::mismatch(first.begin(), first.end(), again.begin(), again.end());
      EXPECT_TRUE(a == first.end() && b == again.end())
          << files << ": run " << run << " differs from record " << a - first.begin() + 1 << " on";
    }
  }
}

/// Its Jobs all succeed: none is said to have lost a pod.
TEST(QuickStart, SaysOfNoJobThatItsPodsFailed) {
  events::RecordReader reader;
  std::size_t changes = 0;
  for (const auto& bytes : records_of_play("examples/quickstart")) {
    const auto record = reader.read(bytes);
    ASSERT_TRUE(record) << record.error().message;
    const auto* decisions = std::get_if<Decisions>(&(*record)->body);
    if (decisions == nullptr) continue;
    for (const auto& event : decisions->events)
      if (const auto* changed = std::get_if<ConditionChanged>(&event)) {
        ++changes;
        EXPECT_NE(changed->reason, "WaitForRecovery") << changed->message;
      }
  }
  EXPECT_GT(changes, 0U);
}

}  // namespace
}  // namespace hindsight::runtime
