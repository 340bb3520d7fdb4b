// verify finds a decision that does not follow from its base, and a snapshot that is not the state; and nothing else.

#include "replay/verify.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "admission/rules.hpp"
#include "admission/state/snapshot.hpp"
#include "events/memory_log.hpp"
#include "events/snapshot.hpp"
#include "replay/snapshots.hpp"
#include "tests/explorer/explorer.hpp"
#include "tests/replay/worlds.hpp"

namespace hindsight::replay {
namespace {

using hindsight::testing::LogWorld;
using hindsight::testing::two_teams;

TEST(Verify, ASoundLogIsClean) {
  events::MemoryLog log;
  LogWorld w(log);
  two_teams(w, true);
  const auto report = verify(log, "default").value();
  EXPECT_TRUE(report.clean());
  EXPECT_EQ(report.records, w.position());
  EXPECT_EQ(report.to, w.position());
  EXPECT_EQ(report.state_hash, w.hashes().back());
  EXPECT_EQ(report.snapshots, 3U);
  EXPECT_EQ(report.decisions, 15U);
  EXPECT_LE(report.stale_decisions, 1U);
}

TEST(Verify, StartsFromASnapshotWhenAsked) {
  events::MemoryLog log;
  LogWorld w(log);
  two_teams(w, true);
  const auto snapshots = log.snapshots().value();
  const auto report = verify(log, "default", {.from_snapshot = w.position()}).value();
  EXPECT_TRUE(report.clean());
  EXPECT_EQ(report.from, snapshots[0].position);
  EXPECT_EQ(report.records, w.position() - snapshots[0].position);
  EXPECT_EQ(report.state_hash, w.hashes().back());
  EXPECT_EQ(verify(log, "default", {.from_snapshot = snapshots[0].position - 1}).value().from, snapshots[1].position);
}

// A log may be trimmed between a decision and the state that it was made at: nothing is left then to make it again from.
TEST(Verify, ADecisionThatWasBegunBeforeTheSnapshotIsNoFault) {
  events::MemoryLog log;
  LogWorld w(log);
  w.set_up({{.name = "team-a", .quotas = {{.nominal = 4000}}}});
  w.submit({.name = "first"});
  const auto begun = w.driver().decide();
  ASSERT_TRUE(begun);
  w.submit({.name = "meanwhile"});
  w.snapshot();
  const Position cut = w.position();
  w.decide(*begun, w.driver().domain().epoch());
  w.settle();
  w.flush();
  const auto whole = verify(log, "default").value();
  EXPECT_TRUE(whole.clean());
  EXPECT_EQ(whole.begun_before, 0U);
  const auto report = verify(log, "default", {.from_snapshot = cut}).value();
  EXPECT_TRUE(report.clean());
  EXPECT_EQ(report.from, cut);
  EXPECT_EQ(report.begun_before, 1U);
  const auto before = verify(log, "default", {.to = cut}).value();
  EXPECT_EQ(before.decisions + 1 + report.decisions, whole.decisions);
  EXPECT_EQ(report.state_hash, whole.state_hash);
}

TEST(Verify, EndsWhereItIsToldTo) {
  events::MemoryLog log;
  LogWorld w(log);
  two_teams(w);
  const auto report = verify(log, "default", {.to = 17}).value();
  EXPECT_TRUE(report.clean());
  EXPECT_EQ(report.to, 17U);
  EXPECT_EQ(report.state_hash, w.hashes()[17]);
}

/// Copies a log, letting `change` alter each record.
template <class F>
void copy_with_changes(const Log& from, events::MemoryLog& to, F&& change) {
  events::RecordBatch batch;
  events::RecordReader reader;
  events::Encoder encoder;
  for (Position p = 1;; p += batch.size()) {
    ASSERT_TRUE(from.read(p, {}, batch));
    if (batch.empty()) break;
    for (const auto& stored : batch) {
      RecordView r = **reader.read(stored.bytes);
      change(stored.offset, r);
      const events::EncodedRecord one{stored.domain, stored.sequence, stored.epoch, stored.time, encoder.encode(r)};
      to.slip_in(one);  // also what does not count
    }
  }
}

/// Letting `change` alter the events of the record at `at`.
template <class F>
void copy_with_change(const Log& from, events::MemoryLog& to, Position at, F&& change) {
  std::vector<Event> events;
  copy_with_changes(from, to, [&](Position offset, RecordView& r) {
    if (offset != at) return;
    auto& d = std::get<Decisions>(r.body);
    events.assign(d.events.begin(), d.events.end());
    change(events);
    d.events = events;
  });
}

Position first_reservation(const Log& log) {
  events::RecordBatch batch;
  events::RecordReader reader;
  EXPECT_TRUE(log.read(1, {}, batch));
  for (const auto& stored : batch) {
    const auto* d = std::get_if<Decisions>(&(*reader.read(stored.bytes))->body);
    if (d != nullptr && !d->events.empty() && std::holds_alternative<QuotaReserved>(d->events[0])) return stored.offset;
  }
  return 0;
}

TEST(Verify, ATamperedDecisionIsNamedByRecordEventAndField) {
  events::MemoryLog log, tampered;
  LogWorld w(log);
  two_teams(w);
  const auto at = first_reservation(log);
  ASSERT_NE(at, 0U);
  copy_with_change(log, tampered, at, [](std::vector<Event>& events) { std::get<QuotaReserved>(events[0]).borrowing_level = 3; });
  const auto report = verify(tampered, "default").value();
  EXPECT_FALSE(report.clean());
  ASSERT_EQ(report.mismatched_decisions, 1U);
  const auto& m = report.mismatches[0];
  EXPECT_EQ(m.offset, at);
  EXPECT_EQ(m.difference.event, 0U);
  EXPECT_EQ(m.difference.event_kind, "QuotaReserved");
  EXPECT_EQ(m.difference.field, "borrowingLevel");
  EXPECT_EQ(m.difference.recorded, "3");
  EXPECT_EQ(m.difference.computed, "0");
  EXPECT_EQ(m.release, "1.0");
}

// What other rules decided is told and not judged, and what those of this build decide after it is.
TEST(Verify, DecisionsByOtherRulesAreNotJudged) {
  events::MemoryLog log;
  LogWorld w(log);
  two_teams(w);
  const auto at = first_reservation(log);
  std::vector<Event> events;
  const auto report_with = [&](std::uint32_t rules) {
    events::MemoryLog changed;
    copy_with_changes(log, changed, [&](Position offset, RecordView& r) {
      if (auto* started = std::get_if<EpochStarted>(&r.body); started != nullptr) started->rules = rules;
      if (offset != at) return;
      auto& d = std::get<Decisions>(r.body);
      events.assign(d.events.begin(), d.events.end());
      std::get<QuotaReserved>(events[0]).borrowing_level = 3;
      d.events = events;
    });
    return verify(changed, "default").value();
  };
  // By rules before there were rounds a cycle that had two is another decision as well.
  for (const auto& [rules, differences] : {std::pair{std::uint32_t{0}, 2U}, std::pair{admission::rules_version + 1, 1U}}) {
    const auto report = report_with(rules);
    EXPECT_TRUE(report.clean());
    EXPECT_EQ(report.other_rules, differences);
    EXPECT_EQ(report.rules, std::set{rules});
  }
  const auto own = report_with(admission::rules_version);
  EXPECT_EQ(own.mismatched_decisions, 1U);
  EXPECT_EQ(own.other_rules, 0U);
  EXPECT_EQ(own.rules, std::set<std::uint32_t>{});
}

TEST(Verify, ADecisionThatTheStateDoesNotCallForIsFound) {
  events::MemoryLog log, tampered;
  LogWorld w(log);
  two_teams(w);
  const auto at = first_reservation(log);
  copy_with_change(log, tampered, at,
                   [](std::vector<Event>& events) { events.push_back(WorkloadDeactivated{std::get<QuotaReserved>(events[0]).workload}); });
  const auto report = verify(tampered, "default").value();
  ASSERT_GE(report.mismatched_decisions, 1U);
  EXPECT_EQ(report.mismatches[0].offset, at);
  EXPECT_EQ(report.mismatches[0].difference.field, "event");
  EXPECT_EQ(report.mismatches[0].difference.computed, "no event");
}

TEST(Verify, ASnapshotOfAnotherStateIsFound) {
  events::MemoryLog log;
  LogWorld w(log);
  two_teams(w, true);
  const auto snapshots = log.snapshots().value();
  // the oldest state, stored as if it were the newest
  auto wrong = log.snapshot(snapshots[2].position, snapshots[2].domain).value();
  wrong.meta.position = snapshots[0].position;
  ASSERT_TRUE(log.put_snapshot(wrong.meta, wrong.bytes));
  const auto report = verify(log, "default").value();
  EXPECT_FALSE(report.clean());
  EXPECT_EQ(report.mismatched_decisions, 0U);
  ASSERT_EQ(report.snapshot_mismatches.size(), 1U);
  EXPECT_EQ(report.snapshot_mismatches[0].position, snapshots[0].position);
  // the right hash outside, the wrong state inside
  wrong.meta.state_hash = w.hashes()[snapshots[0].position];
  ASSERT_TRUE(log.put_snapshot(wrong.meta, wrong.bytes));
  const auto inside = verify(log, "default").value();
  ASSERT_EQ(inside.snapshot_mismatches.size(), 1U);
  EXPECT_EQ(inside.snapshot_mismatches[0].position, snapshots[0].position);
}

// What the hash that a snapshot names leaves out is compared as well.
TEST(Verify, ASnapshotThatIsWrongInOneFieldIsFoundAndTheFieldIsNamed) {
  events::MemoryLog log;
  LogWorld w(log);
  two_teams(w, true);
  const auto meta = log.snapshots().value()[0];
  admission::LoopDriver read([](Text json) { return events::read_settings(json); });
  ASSERT_TRUE(load_state(log, meta, "default", read.entities()));
  const auto index = read.domain().find_parent("uid-w4");
  ASSERT_TRUE(index);
  auto* parent = const_cast<admission::WorkloadParent*>(read.parent(*index));
  auto image = parent->image();
  image.workloads.at(0).pod_sets.change([](auto& pod_sets) { pod_sets.at(0).group = Symbol("somebody-else"); });
  parent->restore(std::move(image));
  ASSERT_EQ(read.state_hash(), meta.state_hash);
  const auto state = admission::SnapshotCodec::write(read);
  const events::DomainState one{"default", read.domain().sequence(), meta.epoch, meta.state_hash, state};
  ASSERT_TRUE(log.put_snapshot(meta, events::encode_snapshot(meta, admission::snapshot_version, std::span(&one, 1))));
  const auto report = verify(log, "default").value();
  EXPECT_FALSE(report.clean());
  ASSERT_EQ(report.snapshot_mismatches.size(), 1U);
  EXPECT_EQ(report.snapshot_mismatches[0].position, meta.position);
  EXPECT_EQ(report.snapshot_mismatches[0].what,
            "holds another state than the records lead to; parent uid-w4 / workloads[0] / pod_sets[0] / group: holds \"somebody-else\", "
            "the records lead to nothing");
}

// Another build computes another hash of the same state: that is told, and is no fault.
TEST(Verify, ASnapshotOfAnotherVersionIsNotCompared) {
  events::MemoryLog log;
  LogWorld w(log);
  two_teams(w, true);
  auto other = log.snapshots().value()[0];
  other.state_hash = 42;
  const std::vector<std::byte> state(16);
  const events::DomainState one{"default", w.position(), other.epoch, other.state_hash, state};
  ASSERT_TRUE(log.put_snapshot(other, events::encode_snapshot(other, admission::snapshot_version - 1, std::span(&one, 1))));
  const auto report = verify(log, "default").value();
  EXPECT_TRUE(report.clean());
  EXPECT_EQ(report.snapshots, 2U);
  ASSERT_EQ(report.unread_snapshots.size(), 1U);
  EXPECT_EQ(report.unread_snapshots[0].position, other.position);
}

TEST(Verify, DamageEndsItWithTheOffset) {
  events::MemoryLog log;
  LogWorld w(log);
  two_teams(w);
  log.damage(30);
  const auto report = verify(log, "default").value();
  EXPECT_FALSE(report.clean());
  ASSERT_TRUE(report.damage);
  EXPECT_NE(report.damage->message.find("30"), std::string::npos) << report.damage->message;
  EXPECT_EQ(report.to, 29U);
  EXPECT_EQ(report.mismatched_decisions, 0U);
}

std::string first_finding(const VerifyReport& report) {
  if (report.damage) return report.damage->message;
  if (!report.snapshot_mismatches.empty())
    return "snapshot " + std::to_string(report.snapshot_mismatches[0].position) + " " + report.snapshot_mismatches[0].what;
  if (report.mismatches.empty()) return std::to_string(report.undecidable.size()) + " undecidable";
  const auto& m = report.mismatches[0];
  return "record " + std::to_string(m.offset) + " with base " + std::to_string(m.base) + ", event " + std::to_string(m.difference.event) +
         " " + m.difference.event_kind + ", " + m.difference.field + ": " + m.difference.recorded + " against " + m.difference.computed;
}

/// The explorer's settings as a configuration file says them.
std::string_view json_of(std::string_view settings) {
  if (settings == "fair") return R"({"fairSharing": {}})";
  if (settings == "impatient") {
    return R"({"waitForPodsReady": {"timeout": "20s", "recoveryTimeout": "10s",
               "requeuingStrategy": {"backoffBaseSeconds": 1, "backoffLimitCount": 3}},
               "objectRetentionPolicies": {"workloads": {"afterFinished": "30s"}}})";
  }
  if (settings == "plain") {
    return R"({"waitForPodsReady": {"enable": false}, "featureGates": {"SchedulingEquivalenceHashing": false,
               "PartialAdmission": false, "FlavorFungibilityPreserveScanProgress": false}})";
  }
  if (settings == "sharing") {
    return R"({"admissionFairSharing": {"usageHalfLifeTime": "60s", "usageSamplingInterval": "7s"},
               "featureGates": {"PrioritizePreemptorWorkloads": true}})";
  }
  if (settings != "default") throw std::logic_error("settings without JSON: " + std::string(settings));
  return "{}";
}

/// Snapshots of the state after every record that the domain has.
std::vector<EncodedSnapshot> snapshots_everywhere(const Log& log) {
  std::vector<EncodedSnapshot> out;
  const auto driver = new_driver();
  events::RecordBatch batch;
  events::RecordReader reader;
  for (Position p = 1;; p += batch.size()) {
    EXPECT_TRUE(log.read(p, {}, batch));
    if (batch.empty()) return out;
    for (const auto& stored : batch) {
      EXPECT_TRUE(apply_record(*driver, **reader.read(stored.bytes)));
      out.push_back(encode_state(driver->entities(), "default", stored.offset, "1.0"));
    }
  }
}

// BA-154 and the design's rules 1 to 4, on random histories: crashes, late and repeated decisions, repeated observations
TEST(Verify, RandomHistoriesAreClean) {
  const char* wanted = std::getenv("HINDSIGHT_SEEDS");
  const int seeds = wanted == nullptr ? 40 : static_cast<int>(std::strtol(wanted, nullptr, 10));
  std::uint64_t decisions = 0, stale = 0, begun_before = 0;
  for (int seed = 1; seed <= seeds; ++seed) {
    explorer::Explorer e(static_cast<std::uint64_t>(seed) + 770'000, false);
    ASSERT_EQ(e.run(), "") << "seed " << seed;
    events::MemoryLog log;
    events::Encoder encoder;
    for (const auto& r : e.history().records()) {
      RecordView view = r.view;
      // its settings are numbers of its own; the real reader knows them as JSON
      if (auto* o = std::get_if<Observation>(&view.body))
        if (auto* c = std::get_if<ConfigurationObserved>(o)) c->json = json_of(c->json);
      const auto& v = view.envelope;
      log.slip_in({v.domain, v.sequence, v.epoch, v.time, encoder.encode(view)});  // some logs (Kafka) take what late writers write
    }
    const auto report = verify(log, "default").value();
    ASSERT_TRUE(report.clean()) << "seed " << seed << ": " << first_finding(report);
    decisions += report.decisions;
    stale += report.stale_decisions;
    if (seed > 3) continue;
    const auto snapshots = snapshots_everywhere(log);
    for (std::size_t i = 0; i < snapshots.size(); ++i) {
      // The first is begun from, the others are compared with what it leads to.
      for (std::size_t at = i; at < snapshots.size(); at = at + 1 + (at - i) * 7)
        ASSERT_TRUE(log.put_snapshot(snapshots[at].meta, snapshots[at].bytes));
      const Position from = snapshots[i].meta.position;
      const auto rest = verify(log, "default", {.from_snapshot = from}).value();
      ASSERT_EQ(rest.from, from);
      ASSERT_TRUE(rest.clean()) << "seed " << seed << " from " << from << ": " << first_finding(rest);
      ASSERT_EQ(rest.state_hash, report.state_hash) << "seed " << seed << " from " << from;
      begun_before += rest.begun_before;
      const auto kept = log.snapshots().value();
      for (const auto& meta : kept) ASSERT_TRUE(log.drop_snapshot(meta.position, "default"));
    }
  }
  EXPECT_GT(begun_before, 0U);
  EXPECT_GT(decisions, static_cast<std::uint64_t>(seeds) * 10);
  EXPECT_GT(stale, 0U);
}

}  // namespace
}  // namespace hindsight::replay
