// The log in memory keeps the promises of every log, and breaks them in the ways that a test asks for.

#include "events/memory_log.hpp"

#include "tests/events/log_contract.hpp"

namespace hindsight::test {
namespace {

struct MemoryLogMaker {
  std::unique_ptr<events::Log> make() { return std::make_unique<events::MemoryLog>(); }
};
INSTANTIATE_TYPED_TEST_SUITE_P(Memory, LogContract, MemoryLogMaker);

ErrorKind append_fails(events::Log& log, const Records& records) {
  const auto result = log.append(records.list(), {});
  EXPECT_FALSE(result.has_value());
  return result ? ErrorKind::invalid : result.error().kind;
}

TEST(MemoryLogFaults, refused_leaves_nothing_behind) {
  events::MemoryLog log;
  log.on_append([](auto) { return events::AppendFault::refused; });
  EXPECT_EQ(append_fails(log, Records::run("a", 1, 4)), ErrorKind::io);
  EXPECT_EQ(log.last().value(), 0u);
  log.on_append({});
  EXPECT_EQ(log.append(Records::run("a", 1, 4).list(), 0).value(), 4u);
}

TEST(MemoryLogFaults, possibly_persisted_fails_and_yet_is_in_the_log) {
  events::MemoryLog log;
  log.on_append([](auto) { return events::AppendFault::possibly_persisted; });
  EXPECT_EQ(append_fails(log, Records::run("a", 1, 4)), ErrorKind::io);
  EXPECT_EQ(read_all(log).size(), 4u);
}

TEST(MemoryLogFaults, torn_leaves_the_first_half) {
  events::MemoryLog log;
  log.on_append([](auto) { return events::AppendFault::torn; });
  EXPECT_EQ(append_fails(log, Records::run("a", 1, 5)), ErrorKind::io);
  EXPECT_EQ(read_all(log), (std::vector<std::string>{"1 a 1 e1 t1 a#1", "2 a 2 e1 t2 a#2"}));
  log.on_append({});
  EXPECT_EQ(log.append(Records().add("a", 3).list(), 2).value(), 3u);
}

TEST(MemoryLogFaults, a_damaged_record_is_named_and_what_stands_before_it_is_read) {
  events::MemoryLog log("test");
  EXPECT_TRUE(log.append(Records::run("a", 1, 4).list(), {}).has_value());
  log.damage(3);
  EXPECT_EQ(read_all(log), (std::vector<std::string>{"1 a 1 e1 t1 a#1", "2 a 2 e1 t2 a#2", "error: log test: record 3 is damaged"}));
}

TEST(MemoryLogFaults, truncation_forgets_the_tail_and_its_snapshots) {
  events::MemoryLog log;
  EXPECT_TRUE(log.append(Records::run("a", 1, 4).list(), {}).has_value());
  EXPECT_TRUE(log.put_snapshot({.position = 2}, {}).has_value());
  EXPECT_TRUE(log.put_snapshot({.position = 4}, {}).has_value());
  log.truncate(3);
  EXPECT_EQ(log.last().value(), 3u);
  EXPECT_EQ(log.snapshots().value().size(), 1u);
  EXPECT_EQ(log.append(Records().add("a", 4).list(), 3).value(), 4u);
}

}  // namespace
}  // namespace hindsight::test
