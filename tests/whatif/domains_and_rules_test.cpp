// A log with several domains is played one domain at a time; and by whose rules is decided.

#include <gtest/gtest.h>

#include <string>

#include "admission/rules.hpp"
#include "events/record.hpp"
#include "tests/whatif/played_on.hpp"

namespace hindsight::whatif {
namespace {

using projections::basics;
using projections::job_text;
using projections::Played;
using projections::queue_text;

const std::string two_that_wait = basics + queue_text({.name = "cq", .cpu = "1"}) + job_text({.name = "first", .runs = 100}) +
                                  job_text({.name = "second", .arrives = 10, .runs = 100});

/// Each record once for each of these domains, and by these rules.
void copy_for(const Played& p, const std::vector<std::string>& domains, std::uint32_t rules, events::MemoryLog& to) {
  events::RecordBatch batch;
  p.each([&](events::Position, const RecordView& recorded) {
    for (const auto& domain : domains) {
      RecordView r = recorded;
      r.envelope.domain = domain;
      if (auto* epoch = std::get_if<EpochStarted>(&r.body)) epoch->rules = rules;
      const auto bytes = events::encode(r);
      batch.clear();
      batch.add({domain, r.envelope.sequence, r.envelope.epoch, r.envelope.time, bytes});
      ASSERT_TRUE(to.append(batch.views(), std::nullopt));
    }
  });
}

PlayReport played(const events::Log& log, const std::string& domain, events::Position from, const Changes& changes, events::Log* out) {
  Responses responses;
  const auto last = log.last().value();
  EXPECT_TRUE(replay::scan(log, domain, 1, last, [&](const auto&, const RecordView& r) {
    responses.see(r);
    return true;
  }));
  Player player(log, domain, responses, changes, {.from = from, .until = last, .out = out});
  const auto report = player.play();
  EXPECT_TRUE(report) << report.error().message;
  return report ? *report : PlayReport{};
}

TEST(WhatIfInSeveralDomains, EachIsPlayedAsIfItWereAlone) {
  const Played p(two_that_wait);
  events::MemoryLog both;
  copy_for(p, {"default", "other"}, admission::rules_version, both);
  const auto alone = played(p.log, "default", p.at(5), {}, nullptr);
  for (const std::string domain : {"default", "other"}) {
    events::MemoryLog out;
    const auto same = played(both, domain, 2 * p.at(5), {}, &out);
    EXPECT_EQ(same.same, same.recorded) << domain;
    EXPECT_EQ(same.others, 0U);
    EXPECT_EQ(same.records, alone.records);
    EXPECT_EQ(same.state_hash, alone.state_hash);
    EXPECT_EQ(out.last().value(), p.end());  // nothing of the other domain
    EXPECT_TRUE(replay::verify(out, domain)->clean());
  }
  Changes changes;
  changes.quotas.push_back(*parse_quota_change("cq/cq:cpu=2"));
  EXPECT_EQ(played(both, "other", 2 * p.at(5), changes, nullptr).state_hash,
            played(p.log, "default", p.at(5), changes, nullptr).state_hash);
}

TEST(WhatIfInSeveralDomains, InOneThatIsNotThereNothingHappens) {
  const Played p(two_that_wait);
  Responses responses;
  Player player(p.log, "nowhere", responses, {}, {.from = p.at(5), .until = p.end()});
  const auto report = player.play();
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->records, 0U);
  EXPECT_EQ(report->recorded, 0U);
}

TEST(WhatIfByRules, OfTheRecordStaysWithThemAndOfThisBuildTakesThemFromTheMomentOn) {
  const Played p(two_that_wait);
  events::MemoryLog old;
  copy_for(p, {"default"}, 1, old);
  Changes changes;
  changes.quotas.push_back(*parse_quota_change("cq/cq:cpu=2"));
  for (const bool current : {false, true}) {
    changes.current_rules = current;
    events::MemoryLog out;
    Responses responses;
    PlayOptions options{.from = p.at(5), .until = p.end(), .out = &out};
    Player player(old, "default", responses, changes, options);
    const auto report = player.play();
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(player.driver().domain().rules(), current ? admission::rules_version : 1U);
    const auto verified = replay::verify(out, "default");
    ASSERT_TRUE(verified);
    EXPECT_TRUE(verified->clean());
  }
}

TEST(WhatIfByRules, OfThisBuildNothingDiffersWhereTheRecordHasThemAlready) {
  const Played p(two_that_wait);
  Changes changes;
  changes.current_rules = true;
  EXPECT_TRUE(changes.empty());
  const auto report = played(p.log, "default", p.at(5), changes, nullptr);
  EXPECT_EQ(report.same, report.recorded);
  EXPECT_EQ(report.others, 0U);
  EXPECT_EQ(report.modelled, 0U);
}

}  // namespace
}  // namespace hindsight::whatif
