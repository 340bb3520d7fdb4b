// Values that are kept from record to record are those that asking again would give, and are asked for again only where something happened.

#include "cli/remembered_values.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "events/memory_log.hpp"
#include "events/sqlite_log.hpp"
#include "projections/lookup.hpp"
#include "replay/past.hpp"
#include "tests/events/temporary_folder.hpp"
#include "tests/replay/kept_logs.hpp"
#include "tests/replay/log_world.hpp"

namespace hindsight::cli {
namespace {

/// A value of everything that the end of the log has of these kinds, and of one that is not there.
std::vector<ObjectValue> values_to_follow(const events::Log& log) {
  replay::Past past(log, "default");
  EXPECT_TRUE(past.go_to(log.last().value()));
  const auto& state = past.driver();
  const auto& catalog = *state.domain().catalog();
  std::vector<std::string> texts{"workload/none", "job/none:.status", "clusterqueue/none", "node/none"};
  const auto name = [](const Symbol& s) { return std::string(s.text()); };
  std::size_t workloads = 0;
  for (const auto& at : projections::all_workloads(state)) {
    if (++workloads > 12) break;
    const auto full = name(at.workload->namespace_) + "/" + std::string(std::string_view(at.workload->name));
    texts.push_back("workload/" + full);
    if (const auto& job = at.parent->job())
      texts.push_back("job/" + name(job->namespace_) + "/" + std::string(std::string_view(job->name)) + ":.status.conditions");
  }
  for (const auto& [queue, config] : catalog.queues) {
    texts.push_back("clusterqueue/" + name(queue));
    if (!config->cohort.empty()) texts.push_back("cohort/" + name(config->cohort));
  }
  for (const auto& [key, queue] : catalog.local_queues) texts.push_back("localqueue/" + name(queue.namespace_) + "/" + name(queue.name));
  for (const auto& [flavor, config] : catalog.flavors) texts.push_back("resourceflavor/" + name(flavor));
  for (const auto& [topology, config] : catalog.topologies) texts.push_back("topology/" + name(topology));
  for (const auto& [check, config] : catalog.checks) texts.push_back("admissioncheck/" + name(check));
  std::size_t nodes = 0;
  for (const auto& [node, config] : state.domain().nodes())
    if (++nodes <= 3) texts.push_back("node/" + name(node));
  std::vector<ObjectValue> out;
  for (const auto& text : texts) {
    auto value = ObjectValue::parse(text);
    EXPECT_TRUE(value) << text << ": " << value.error().message;
    if (value) out.push_back(*value);
  }
  return out;
}

/// The number of questions, and of records.
std::pair<std::uint64_t, std::uint64_t> follow_to_the_end(const events::Log& log, const std::vector<ObjectValue>& values) {
  replay::Past past(log, "default");
  RememberedValues remembered;
  std::uint64_t records = 0;
  past.look_on({}, [&](replay::Position at, const RecordView& record) {
    remembered.behind(past, record);
    ++records;
    for (const auto& value : values)
      EXPECT_EQ(remembered.of(value, past.driver()), value.in(past.driver())) << value.text() << " behind record " << at;
  });
  EXPECT_TRUE(past.fold_to(log.last().value()));
  return {remembered.asked(), records};
}

class RememberedInKeptLog : public ::testing::TestWithParam<const char*> {};

TEST_P(RememberedInKeptLog, AreWhatAskingGives) {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("log.db");
  std::filesystem::copy_file(std::filesystem::path("tests/replay/logs") / GetParam(), path);
  const auto log = events::SqliteLog::open(path, {.read_only = true});
  ASSERT_TRUE(log) << log.error().message;
  const auto values = values_to_follow(**log);
  const auto [asked, records] = follow_to_the_end(**log, values);
  EXPECT_LT(asked, records * values.size());
}

INSTANTIATE_TEST_SUITE_P(Files, RememberedInKeptLog, hindsight::testing::kept_logs(), hindsight::testing::test_name_of);

TEST(RememberedValues, AreNotAskedForWhereOthersChange) {
  events::MemoryLog log;
  hindsight::testing::LogWorld w(log);
  w.set_up({{.name = "a", .quotas = {{.nominal = 1000}}}, {.name = "b", .quotas = {{.nominal = 1'000'000}}}});
  w.submit({.name = "mine", .cpu = 9000});
  w.settle();
  for (int i = 0; i < 300; ++i) {
    w.submit({.name = "w" + std::to_string(i), .queue = "lq-b"});
    w.settle();
  }
  w.flush();
  const auto one = ObjectValue::parse("workload/mine:.status").value();
  const auto queue = ObjectValue::parse("clusterqueue/a:.status.pendingWorkloads").value();
  const auto [of_one, records] = follow_to_the_end(log, {one});
  ASSERT_GT(records, 600U);
  EXPECT_LT(of_one, 30U);
  EXPECT_LT(follow_to_the_end(log, {queue}).first, 30U);
  EXPECT_GT(follow_to_the_end(log, {ObjectValue::parse("clusterqueue/b").value()}).first, 300U);
}

}  // namespace
}  // namespace hindsight::cli
