// Several domains of a log are played as one world: changes find their domain, the result is in order, and who moves takes its fate along.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/whatif/played_on.hpp"
#include "whatif/encoded.hpp"
#include "whatif/many_player.hpp"
#include "whatif/placement.hpp"

namespace hindsight::whatif {
namespace {

using projections::basics;
using projections::job_text;
using projections::Played;
using projections::queue_text;

/// A queue for one job at a time, and two that want it. Worlds of this form have the same times and uids.
std::string world_of(const std::string& queue, const std::string& cohort = {}) {
  return basics + queue_text({.name = queue, .cohort = cohort, .cpu = "1"}) +
         job_text({.name = queue + "-first", .queue = queue, .runs = 100}) +
         job_text({.name = queue + "-second", .queue = queue, .arrives = 10, .runs = 100});
}

/// A log of several domains that is written record by record.
class WrittenLog {
 public:
  events::MemoryLog log;

  void write(const std::string& domain, RecordView r) {
    r.envelope.domain = domain;
    r.envelope.sequence = ++sequences_[domain];
    const auto bytes = events::encode(r);
    events::RecordBatch batch;
    batch.add({domain, r.envelope.sequence, r.envelope.epoch, r.envelope.time, bytes});
    ASSERT_TRUE(log.append(batch.views(), std::nullopt));
  }

 private:
  std::map<std::string, std::uint64_t> sequences_;
};

/// Two logs of one domain as one log of two, in the order of time.
void interleave(const Played& a, const std::string& domain_a, const Played& b, const std::string& domain_b, WrittenLog& to) {
  struct From {
    Time time;
    const Played* played;
    std::string domain;
    events::Position at;
  };
  std::vector<From> order;
  for (const auto& [played, domain] : {std::pair(&a, domain_a), std::pair(&b, domain_b)})
    played->each([&, one = played, name = domain](events::Position at, const RecordView& r) {
      order.push_back({r.envelope.time, one, name, at});
    });
  std::ranges::stable_sort(order, {}, &From::time);
  events::RecordReader reader;
  events::RecordBatch batch;
  for (const From& from : order) {
    ASSERT_TRUE(from.played->log.read(from.at, {}, batch));
    to.write(from.domain, **reader.read(batch[0].bytes));
  }
}

struct ManyPlayed {
  events::MemoryLog result;
  std::vector<DomainReport> reports;
  Comparison comparison;

  ManyPlayed(const events::Log& log, const std::vector<std::string>& domains, events::Position from, const Changes& changes,
             Duration beyond = {}) {
    Responses responses;
    const auto last = log.last().value();
    EXPECT_TRUE(replay::scan(log, "", 1, last, [&](const auto&, const RecordView& r) {
      responses.see(r);
      return true;
    }));
    std::map<std::string, Ledger, std::less<>> was, would_be;
    Time end;
    for (const auto& domain : domains) {
      replay::Past past(log, domain);
      EXPECT_TRUE(past.go_to(from));
      was[domain].begin(past.driver(), domain);
      past.look_on({}, [&](events::Position, const RecordView& r) { was[domain].see(r, past.driver()); });
      EXPECT_TRUE(past.fold_to(last));
      end = std::max(end, past.driver().domain().now());
    }
    ManyOptions options{.from = from, .until = last, .beyond = beyond, .out = &result};
    options.on_begin = [&](const std::string& domain, const admission::LoopDriver& d) { would_be[domain].begin(d, domain); };
    options.on_record = [&](const RecordView& r, const admission::LoopDriver& d) { would_be.find(r.envelope.domain)->second.see(r, d); };
    ManyPlayer player(log, domains, responses, options);
    const auto played = player.play(changes);
    EXPECT_TRUE(played) << played.error().message;
    if (!played) return;
    reports = *played;
    comparison = compare(as_one(was, end), as_one(would_be, together(reports).end));
  }

  [[nodiscard]] bool result_is_in_order() const {
    Time before;
    events::RecordBatch batch;
    for (events::Position p = 1;; p += batch.size()) {
      if (!result.read(p, {}, batch)) return false;
      if (batch.empty()) return true;
      for (const auto& stored : batch) {
        if (stored.time < before) return false;
        before = stored.time;
      }
    }
  }

 private:
  static Ledger as_one(std::map<std::string, Ledger, std::less<>>& ledgers, Time end) {
    Ledger out;
    for (auto& [domain, ledger] : ledgers) {
      ledger.end(end);
      out.absorb(std::move(ledger), "");
    }
    return out;
  }
};

const Fate* fate_of_job(const Ledger& ledger, const std::string& job) {
  for (const auto& [key, fate] : ledger.fates())
    if (fate.job == "Job/" + job) return &fate;
  return nullptr;
}

class WhatIfInManyDomains : public testing::Test {
 protected:
  void SetUp() override {
    interleave(alpha, "c/queue/alpha", beta, "c/queue/beta", both);
    const Time moment = alpha.state(alpha.at(5)).now();
    from = replay::resolve(both.log, {.kind = replay::Moment::Kind::time, .time = moment}).value();
  }

  Played alpha{world_of("alpha")}, beta{world_of("beta")};
  const std::vector<std::string> domains{"c/queue/alpha", "c/queue/beta"};
  WrittenLog both;
  events::Position from = 0;
};

TEST_F(WhatIfInManyDomains, WithoutAChangeAllFareAsOnRecord) {
  const ManyPlayed c(both.log, domains, from, {});
  ASSERT_EQ(c.reports.size(), 2U);
  for (const auto& [domain, report] : c.reports) {
    EXPECT_EQ(report.same, report.recorded) << domain;
    EXPECT_GT(report.recorded, 0U) << domain;
    EXPECT_EQ(report.others, 0U) << domain;
    EXPECT_TRUE(replay::verify(c.result, domain)->clean()) << domain;
  }
  EXPECT_TRUE(c.comparison.differences.empty());
  EXPECT_EQ(c.result.last().value(), both.log.last().value());
  EXPECT_EQ(c.result.domains()->size(), 2U);
  EXPECT_TRUE(c.result_is_in_order());
}

TEST_F(WhatIfInManyDomains, AChangeReachesTheDomainThatItConcerns) {
  Changes changes;
  changes.quotas.push_back(*parse_quota_change("cq/beta:cpu=2"));
  const ManyPlayed c(both.log, domains, from, changes);
  ASSERT_EQ(c.reports.size(), 2U);
  EXPECT_EQ(c.reports[0].report.modelled, 0U);
  EXPECT_EQ(c.reports[0].report.same, c.reports[0].report.recorded);
  EXPECT_GT(c.reports[1].report.modelled, 0U);
  ASSERT_EQ(c.comparison.differences.size(), 1U);
  EXPECT_EQ(c.comparison.differences[0].would_be.job, "Job/beta-second");
  EXPECT_EQ(c.comparison.differences[0].would_be.domain, "c/queue/beta");
  EXPECT_LT(c.comparison.differences[0].shift.micros, 0);
  EXPECT_TRUE(c.result_is_in_order());
  for (const auto& domain : domains) EXPECT_TRUE(replay::verify(c.result, domain)->clean()) << domain;
  const std::string text = to_text(c.comparison, {});
  EXPECT_NE(text.find("DOMAIN"), std::string::npos) << text;
  EXPECT_NE(text.find("c/queue/beta"), std::string::npos) << text;
}

TEST_F(WhatIfInManyDomains, AsOneOfThemPlayedAlone) {
  Changes changes;
  changes.quotas.push_back(*parse_quota_change("cq/beta:cpu=2"));
  const ManyPlayed c(both.log, domains, from, changes);
  const ManyPlayed alone(both.log, {"c/queue/beta"}, from, changes);
  ASSERT_EQ(c.reports.size(), 2U);
  ASSERT_EQ(alone.reports.size(), 1U);
  EXPECT_EQ(c.reports[1].report.decisions, alone.reports[0].report.decisions);
  EXPECT_EQ(fate_of_job(c.comparison.would_be, "beta-second")->ended, fate_of_job(alone.comparison.would_be, "beta-second")->ended);
}

TEST_F(WhatIfInManyDomains, WhatFindsNoDomainIsRefusedWithWhatThereIs) {
  std::vector<std::unique_ptr<replay::Past>> pasts;
  std::vector<DomainState> states;
  for (const auto& domain : domains) {
    pasts.push_back(std::make_unique<replay::Past>(both.log, domain));
    ASSERT_TRUE(pasts.back()->go_to(from));
    states.push_back({domain, &pasts.back()->driver()});
  }
  Changes changes;
  changes.quotas.push_back(*parse_quota_change("cq/gamma:cpu=2"));
  const auto refused = placed(changes, states);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::not_found);
  EXPECT_NE(refused.error().message.find("alpha, beta"), std::string::npos) << refused.error().message;

  changes = {};
  changes.quotas.push_back(*parse_quota_change("cq/alpha:cpu=2"));
  LocalQueueObserved local;
  local.meta.namespace_ = "default";
  local.meta.name = "more";
  local.cluster_queue = "beta";
  JobObserved job;
  job.meta.namespace_ = "default";
  job.meta.name = "third";
  job.queue_name = "more";
  ResourceFlavorObserved flavor;
  flavor.meta.name = "spot";
  for (const Observation& o : {Observation{local}, Observation{job}, Observation{flavor}}) changes.observations.push_back(encoded(o));
  const auto parts = placed(changes, states);
  ASSERT_TRUE(parts) << parts.error().message;
  EXPECT_EQ((*parts)[0].quotas.size(), 1U);
  EXPECT_EQ((*parts)[1].quotas.size(), 0U);
  EXPECT_EQ((*parts)[1].quotas_elsewhere.size(), 1U);
  EXPECT_EQ((*parts)[0].observations.size(), 1U) << "the flavor";
  EXPECT_EQ((*parts)[1].observations.size(), 3U);
}

TEST(WhatIfInTwoDomains, AQueueOfBothAndTreesThatWouldJoinAreRefused) {
  const Played alpha(world_of("alpha", "left")), beta(world_of("beta", "right"));
  WrittenLog both;
  interleave(alpha, "c/cohort/left", beta, "c/cohort/right", both);
  WrittenLog twice;
  interleave(alpha, "x", alpha, "y", twice);
  const auto placed_in = [](const events::Log& log, const std::vector<std::string>& domains, const Changes& changes) {
    std::vector<std::unique_ptr<replay::Past>> pasts;
    std::vector<DomainState> states;
    for (const auto& domain : domains) {
      pasts.push_back(std::make_unique<replay::Past>(log, domain));
      EXPECT_TRUE(pasts.back()->go_to(log.last().value()));
      states.push_back({domain, &pasts.back()->driver()});
    }
    return placed(changes, states);
  };
  Changes changes;
  changes.quotas.push_back(*parse_quota_change("cq/alpha:cpu=2"));
  const auto several = placed_in(twice.log, {"x", "y"}, changes);
  ASSERT_FALSE(several);
  EXPECT_EQ(several.error().kind, ErrorKind::invalid);
  EXPECT_NE(several.error().message.find("x, y; allowed: one of them, with --domain"), std::string::npos) << several.error().message;

  ClusterQueueObserved moved;
  moved.meta.name = "alpha";
  moved.cohort = "right";
  changes = {};
  changes.observations.push_back(encoded(Observation{moved}));
  const auto joined = placed_in(both.log, {"c/cohort/left", "c/cohort/right"}, changes);
  ASSERT_FALSE(joined);
  EXPECT_EQ(joined.error().kind, ErrorKind::invalid);
  EXPECT_NE(joined.error().message.find("ClusterQueue alpha is in domain c/cohort/left, and names Cohort right"), std::string::npos)
      << joined.error().message;
}

/// After so long the queue goes from one domain to another with all that belongs to it, as the dispatcher of a connector tells it. What
/// waits or runs then does so on record.
void write_a_move(const Played& p, Time moment, WrittenLog& to) {
  const std::string one = "c/queue/alpha", two = "c/cohort/team";
  std::map<std::string, std::vector<std::byte>> newest;  // of what moves, by uid
  std::vector<std::pair<ObjectDeleted, std::string>> who;
  RecordView last;
  const auto keep = [&](const ObjectMeta& meta, ObjectKind kind, const Observation& o) {
    const std::string uid(meta.uid);
    if (!newest.contains(uid)) who.emplace_back(ObjectDeleted{kind, "", "", "", ""}, uid);
    newest[uid] = encoded(o);
  };
  bool moved = false;
  const auto move = [&](const Envelope& at) {
    moved = true;
    events::RecordReader reader;
    for (const bool leaves : {true, false}) {
      std::ranges::reverse(who);  // whoever holds quota leaves before its queue, and comes after it
      for (const auto& [gone, uid] : who) {
        const RecordView& kept = **reader.read(newest.at(uid));
        RecordView r = kept;
        r.envelope = at;
        r.envelope.cause = 0;
        if (leaves) {
          const Observation& o = std::get<Observation>(kept.body);
          const ObjectMeta* meta = nullptr;
          if (const auto* x = std::get_if<ClusterQueueObserved>(&o)) meta = &x->meta;
          if (const auto* x = std::get_if<LocalQueueObserved>(&o)) meta = &x->meta;
          if (const auto* x = std::get_if<JobObserved>(&o)) meta = &x->meta;
          if (const auto* x = std::get_if<WorkloadObserved>(&o)) meta = &x->meta;
          ObjectDeleted departed = gone;
          departed.namespace_ = meta->namespace_;
          departed.name = meta->name;
          departed.uid = meta->uid;
          departed.departed_to = two;
          r.body = Observation{departed};
        }
        to.write(leaves ? one : two, r);
      }
    }
  };
  p.each([&](events::Position, const RecordView& r) {
    if (moved) return;
    if (r.envelope.time > moment) {
      last.envelope.time = moment;
      return move(last.envelope);
    }
    last.envelope = r.envelope;
    to.write(one, r);
    const auto* o = std::get_if<Observation>(&r.body);
    if (o == nullptr) {
      if (std::holds_alternative<EpochStarted>(r.body)) to.write(two, r);
      return;
    }
    if (const auto* x = std::get_if<ClusterQueueObserved>(o)) return keep(x->meta, ObjectKind::cluster_queue, *o);
    if (const auto* x = std::get_if<LocalQueueObserved>(o)) return keep(x->meta, ObjectKind::local_queue, *o);
    if (const auto* x = std::get_if<JobObserved>(o)) return keep(x->meta, ObjectKind::job, *o);
    if (const auto* x = std::get_if<WorkloadObserved>(o)) return keep(x->meta, ObjectKind::workload, *o);
    if (!std::holds_alternative<PodObserved>(*o) && !std::holds_alternative<TimerFired>(*o)) to.write(two, r);
  });
}

TEST(WhatIfAcrossDomains, WhoMovesTakesAlongWhatBecameOfIt) {
  Played p(basics + queue_text({.name = "alpha", .cpu = "1"}) + job_text({.name = "complete", .queue = "alpha", .runs = 40}) +
           job_text({.name = "first", .queue = "alpha", .arrives = 5, .runs = 100}) +
           job_text({.name = "second", .queue = "alpha", .arrives = 10, .runs = 100}));
  const Time begin = p.state(p.at(0)).now();
  const auto second = [&](int n) { return begin + Duration::seconds(n); };
  WrittenLog log;
  write_a_move(p, second(60), log);
  ASSERT_EQ(log.log.domains()->size(), 2U);
  const events::Position from = replay::resolve(log.log, {.kind = replay::Moment::Kind::time, .time = second(45)}).value();
  Changes changes;
  changes.quotas.push_back(*parse_quota_change("cq/alpha:cpu=2"));
  const ManyPlayed c(log.log, {"c/cohort/team", "c/queue/alpha"}, from, changes, Duration::seconds(600));
  ASSERT_EQ(c.reports.size(), 2U);
  EXPECT_TRUE(c.result_is_in_order());
  for (const auto& [domain, report] : c.reports) EXPECT_TRUE(replay::verify(c.result, domain)->clean()) << domain;

  const Fate* was = fate_of_job(c.comparison.was, "second");
  ASSERT_NE(was, nullptr);
  EXPECT_FALSE(was->started.is_set());
  EXPECT_FALSE(was->gone) << "it only went to another domain";
  const Fate* would_be = fate_of_job(c.comparison.would_be, "second");
  ASSERT_NE(would_be, nullptr);
  ASSERT_TRUE(would_be->started.is_set());
  EXPECT_LT(would_be->started, second(60)) << "in the domain that it came from";
  EXPECT_EQ(would_be->domain, "c/cohort/team");
  EXPECT_FALSE(would_be->gone);
  ASSERT_TRUE(would_be->ended.is_set()) << "in the domain to which it went";
  EXPECT_GT(would_be->ended, second(60));
  EXPECT_EQ(would_be->evicted, 0) << "its run, of the 40 s that are on record of another one, went on";
  EXPECT_LT(would_be->ended - would_be->started, Duration::seconds(50));
}

TEST(WhatIfLedgers, OfOtherClustersKeepTheirNamesApart) {
  const Played p(world_of("alpha"));
  const auto ledger_of = [&] {
    Ledger out;
    replay::Past past(p.log, "default");
    EXPECT_TRUE(past.go_to(p.at(5)));
    out.begin(past.driver(), "default");
    past.look_on({}, [&](events::Position, const RecordView& r) { out.see(r, past.driver()); });
    EXPECT_TRUE(past.fold_to(p.end()));
    return out;
  };
  const Ledger one = ledger_of();
  Ledger apart, as_one;
  for (const char* prefix : {"a:", "b:"}) apart.absorb(ledger_of(), prefix);
  for (int i = 0; i < 2; ++i) as_one.absorb(ledger_of(), "");
  EXPECT_EQ(apart.fates().size(), 2 * one.fates().size());
  EXPECT_EQ(as_one.fates().size(), one.fates().size());
  EXPECT_TRUE(apart.waits().contains("a:alpha"));
  EXPECT_TRUE(apart.waits().contains("b:alpha"));
}

}  // namespace
}  // namespace hindsight::whatif
