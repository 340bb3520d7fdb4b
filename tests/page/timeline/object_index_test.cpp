// The index by object against a reading of every record (issue 20: a story costs what its records cost, and says the same): what is left
// out never has anything about the object, and whoever leaves it out tells the same of it.

#include "page/timeline/object_index.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "events/memory_log.hpp"
#include "page/timeline/object_filter.hpp"
#include "page/timeline/steps.hpp"
#include "page/views/records_about.hpp"
#include "page/views/story.hpp"
#include "projections/life.hpp"
#include "replay/scan.hpp"
#include "tests/page/timeline/busy_history.hpp"
#include "tests/support/sanitized.hpp"

namespace hindsight::page::timeline {
namespace {

class ForEverybody final : public Audience {
 public:
  [[nodiscard]] bool may_see(std::string_view) const override { return true; }
  [[nodiscard]] bool sees_all() const override { return true; }
};
const ForEverybody everybody_looks;
const std::function<bool()> never_over = [] { return false; };

class ObjectIndexTest : public ::testing::Test {
 protected:
  ObjectIndexTest() {
    history.live_to(as_much_as(12'000, 9'000));
    end = log.last().value();
    if (auto ok = past.go_to(end); !ok) throw std::runtime_error(ok.error().message);
    replay::Past fold(log, "default");
    ObjectIndexMaker maker(0, bytes_max);
    fold.look_on({}, [&](Position at, const RecordView& record) {
      maker.add(at, record);
      if (const auto* o = std::get_if<Observation>(&record.body))
        if (const auto* w = std::get_if<WorkloadObserved>(o)) names.insert(std::string(w->meta.name));
    });
    if (auto ok = fold.fold_to(end); !ok) throw std::runtime_error(ok.error().message);
    maker.reach(end);
    index = maker.index();
    open = maker.open();
  }

  [[nodiscard]] Look look(bool indexed) const {
    return {.log = log, .past = past, .audience = everybody_looks, .is_over = never_over, .objects = indexed ? index : nullptr};
  }
  [[nodiscard]] std::vector<std::string> some_names(std::size_t most) const {
    std::vector<std::string> all(names.begin(), names.end()), out;
    for (std::size_t i = 0; i < all.size(); i += std::max<std::size_t>(1, all.size() / most)) out.push_back(all[i]);
    return out;
  }

  static constexpr std::size_t bytes_max = std::size_t{8} << 20;
  events::MemoryLog log;
  BusyHistory history{log, 11};
  replay::Past past{log, "default"};
  Position end = 0;
  std::set<std::string> names;
  std::shared_ptr<const ObjectIndex> index;
  ObjectIndexMaker::Open open;
};

/// "w1 0-100 quota: others 3 (a, b)" of each span.
std::string told_life(const std::optional<projections::Life>& life) {
  if (!life) return "never seen";
  std::string out = life->end + " " + std::to_string(life->created.micros) + "-" + std::to_string(life->until.micros);
  for (const auto& span : life->spans) {
    out += "\n" + std::string(name_of(span.kind)) + " " + std::to_string(span.from.micros) + "-" + std::to_string(span.to.micros) + " @" +
           std::to_string(span.offset) + " " + span.reason + " " + span.words + " others " + std::to_string(span.others);
    for (const auto& name : span.names) out += " " + name;
  }
  return out;
}

TEST_F(ObjectIndexTest, WhatIsLeftOutIsAboutNobodyWhoIsAskedFor) {
  ASSERT_GT(index->segments().size(), 3U);
  EXPECT_EQ(index->end(), end / Segment::records * Segment::records);
  std::size_t left_out = 0, has = 0;
  for (const auto& name : some_names(60)) {
    ObjectFilter filter(ObjectName{"Workload", "default", name}, past.driver());
    std::set<Position> about;
    ASSERT_TRUE(replay::scan(log, "default", 1, end, [&](const auto& stored, const RecordView& record) {
      if (filter.matches(record)) about.insert((stored.offset - 1) / Segment::records);
      return true;
    }));
    const auto tokens = filter.tokens();
    for (const auto& segment : index->segments()) {
      if (segment->may_have_any(tokens)) {
        ++has;
        continue;
      }
      ++left_out;
      EXPECT_FALSE(about.contains(segment->block())) << name << " in block " << segment->block();
    }
  }
  EXPECT_GT(left_out, 2 * has) << "most of the log is about somebody else";
}

TEST_F(ObjectIndexTest, ALifeIsToldAsByWhoReadsEverything) {
  std::size_t met = 0;
  for (const auto& name : some_names(60)) {
    const projections::Target target{"Workload", "default", name};
    const auto all = read_trail(look(false), target, 1), some = read_trail(look(true), target, 1);
    ASSERT_TRUE(all && some) << name;
    EXPECT_EQ(all->met(), some->met()) << name;
    ASSERT_EQ(all->facts().size(), some->facts().size()) << name;
    for (std::size_t i = 0; i < all->facts().size(); ++i) {
      const auto &a = all->facts()[i], &b = some->facts()[i];
      EXPECT_EQ(std::tie(a.offset, a.sequence, a.kind, a.workload_uid, a.other, a.reason, a.message),
                std::tie(b.offset, b.sequence, b.kind, b.workload_uid, b.other, b.reason, b.message))
          << name;
    }
    const auto* gone = all->last_end();
    ASSERT_EQ(gone == nullptr, some->last_end() == nullptr) << name;
    const auto at = projections::find_workload(past.driver(), target);
    const std::string uid = at ? std::string(at->workload->uid.text()) : gone == nullptr ? std::string() : gone->uid;
    if (uid.empty()) continue;
    ++met;
    EXPECT_EQ(told_life(all->life(uid, past.driver().now())), told_life(some->life(uid, past.driver().now()))) << name;
  }
  EXPECT_GT(met, 20U);
}

TEST_F(ObjectIndexTest, AStepByEventLeadsToTheSamePlaces) {
  const auto step_to = [&](bool indexed, const std::string& name, Position from, const char* direction) {
    const auto found =
        step(look(indexed),
             Parameters(
                 {}, {{"from", std::to_string(from)}, {"direction", direction}, {"by", "event"}, {"object", "Workload/default/" + name}}));
    EXPECT_TRUE(found);
    return found ? std::pair((*found)["position"].get<Position>(), (*found)["end"].get<bool>()) : std::pair(Position{0}, false);
  };
  for (const auto& name : some_names(25))
    for (const Position from : {Position{1}, end / 3, end / 2, end - 1, end}) {
      EXPECT_EQ(step_to(true, name, from, "forward"), step_to(false, name, from, "forward")) << name << " from " << from;
      EXPECT_EQ(step_to(true, name, from, "back"), step_to(false, name, from, "back")) << name << " back from " << from;
    }
}

TEST_F(ObjectIndexTest, GoneOnIsTheSameAsMadeAtOnce) {
  const Position middle = end / 2;
  replay::Past fold(log, "default");
  auto maker = std::make_unique<ObjectIndexMaker>(0, bytes_max);
  fold.look_on({}, [&](Position at, const RecordView& record) { maker->add(at, record); });
  ASSERT_TRUE(fold.fold_to(middle));
  maker->reach(middle);
  const auto half = maker->index();
  maker = std::make_unique<ObjectIndexMaker>(*half, maker->open(), bytes_max);
  ASSERT_TRUE(fold.fold_to(end));
  maker->reach(end);
  const auto whole = maker->index();
  EXPECT_EQ(whole->end(), index->end());
  ASSERT_EQ(whole->segments().size(), index->segments().size());
  for (std::size_t i = 0; i < whole->segments().size(); ++i) {
    const auto &a = *whole->segments()[i], &b = *index->segments()[i];
    EXPECT_EQ(a.bits(), b.bits()) << i;
    EXPECT_EQ(a.grants(), b.grants()) << i;
    EXPECT_EQ(a.stand(), b.stand()) << i;
  }
  EXPECT_EQ(maker->open().tokens, open.tokens);
  EXPECT_EQ(maker->open().stand, open.stand);
}

TEST_F(ObjectIndexTest, ABoundMakesItCoarserAndNeverWrong) {
  for (const std::size_t most : {index->bytes() / 2, index->bytes() / 5, std::size_t{2'000}}) {
    replay::Past fold(log, "default");
    ObjectIndexMaker maker(0, most);
    fold.look_on({}, [&](Position at, const RecordView& record) { maker.add(at, record); });
    ASSERT_TRUE(fold.fold_to(end));
    maker.reach(end);
    EXPECT_LE(maker.bytes(), most);
    const auto coarse = maker.index();
    for (const auto& segment : coarse->segments()) {
      const auto* fine = index->segment(segment->block());
      ASSERT_NE(fine, nullptr);
      for (const auto& name : some_names(200)) {
        const Token token = name_token("default", name);
        EXPECT_TRUE(!fine->may_have(token) || segment->may_have(token)) << name;
      }
    }
  }
}

}  // namespace
}  // namespace hindsight::page::timeline
