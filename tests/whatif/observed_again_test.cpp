// A state that is told what it knows already is the state that it was: so the world of a what-if may speak by what the state holds.

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "admission/domain/domain.hpp"
#include "admission/workload/workload_parent.hpp"
#include "events/record.hpp"
#include "events/sqlite_log.hpp"
#include "projections/jobs_again.hpp"
#include "replay/past.hpp"
#include "tests/events/temporary_folder.hpp"

namespace hindsight::whatif {
namespace {

/// Tells the state of each object what it knows of it, and returns how many objects changed by that; an object is the text of the hash of
/// its parent before and after.
int told_again(replay::Past& past, int& objects) {
  int changed = 0;
  auto& driver = past.driver();
  for (std::uint32_t i = 0; i < driver.domain().parent_count(); ++i) {
    const auto* parent = driver.parent(i);
    if (parent == nullptr || parent->empty()) continue;
    Arena arena;
    std::vector<Observation> told;
    if (parent->job()) told.push_back(projections::observed_again(*parent->job(), arena));
    for (const auto& w : parent->workloads()) {
      if (w.unconfirmed != 0 || w.revision_pending) continue;  // telling of these confirms what was decided
      auto o = projections::observed_again(w, arena);
      if (parent->job() && o.owner_kind.empty()) {
        o.owner_kind = arena.copy(parent->job()->kind.text());
        o.owner_name = arena.copy(std::string_view(parent->job()->name));
      }
      told.push_back(o);
    }
    for (const Observation& o : told) {
      const std::uint64_t before = driver.parent(i)->hash();
      RecordView r;
      r.envelope = {past.domain_name(), driver.domain().sequence() + 1, driver.domain().epoch(), driver.domain().now(), 0};
      r.body = o;
      if (auto* job = std::get_if<JobObserved>(&std::get<Observation>(r.body))) job->meta.resource_version = 0;  // the same version again
      if (auto* w = std::get_if<WorkloadObserved>(&std::get<Observation>(r.body))) w->meta.resource_version = 0;
      const auto bytes = events::encode(r);
      events::RecordReader reader;
      EXPECT_TRUE(replay::apply_record(driver, **reader.read(bytes)));
      ++objects;
      if (driver.parent(i)->hash() == before) continue;
      ++changed;
      ADD_FAILURE() << "record " << past.position() << ": parent " << i << " changes when it is told what it knows, "
                    << (std::holds_alternative<JobObserved>(o) ? "of its job" : "of a Workload");
    }
  }
  return changed;
}

TEST(ObservedAgain, ChangesNothingAnywhereInKeptLogs) {
  const std::filesystem::path folder = "tests/replay/logs";
  int logs = 0, objects = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".db") continue;
    ++logs;
    const test::TemporaryFolder temporary;
    const std::string path = temporary.file("log.db");
    std::filesystem::copy_file(entry.path(), path);
    const auto log = events::SqliteLog::open(path, {.read_only = true});
    ASSERT_TRUE(log) << log.error().message;
    const auto last = (*log)->last().value();
    int changed = 0;
    for (events::Position at = 1; at <= last && changed == 0; at += 7) {
      replay::Past past(**log, "default");
      ASSERT_TRUE(past.go_to(at));
      changed = told_again(past, objects);
      EXPECT_EQ(changed, 0) << entry.path();
    }
  }
  EXPECT_GT(logs, 3);
  EXPECT_GT(objects, 500);
}

}  // namespace
}  // namespace hindsight::whatif
