#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "actors/node.hpp"
#include "admission/domain/loop_driver.hpp"
#include "events/memory_log.hpp"
#include "events/record.hpp"
#include "tests/actors/facts.hpp"

namespace hindsight::actors::testing {

/// A node over a log in memory, in virtual time.
class NodeFixture : public ::testing::Test {
 protected:
  NodeFixture() {
    options.settings_reader = [](Text) -> Result<admission::Settings> { return admission::Settings{}; };
    options.clock = clock;
    options.inline_receivers = 0;  // so that every message goes through an actor
    options.threads = 3;
    options.on_intents = [this](std::vector<admission::Intent> told) {
      const std::lock_guard lock(mutex);
      for (auto& i : told) intents.push_back(std::move(i));
    };
    options.on_notice = [this](const std::string& text) {
      const std::lock_guard lock(mutex);
      notices.push_back(text);
    };
  }

  void start() {
    auto started = Node::start(log, options);
    ASSERT_TRUE(started) << started.error().message;
    node = std::move(*started);
  }
  void observe(const Observation& o) { ASSERT_NE(node->observe({&o, 1}), Credit::stopped); }
  /// One queue "cq" with so much cpu, behind LocalQueue "lq".
  void set_up_queue(Amount cpu, PreemptionPolicy within = PreemptionPolicy::never) {
    for (const auto& o :
         {facts.flavor(), facts.namespace_(), facts.queue("cq", cpu, within), facts.local_queue("lq", "cq"), Observation(MirrorSynced{})})
      observe(o);
  }
  void rest() {
    const auto ok = node->wait_until_rest();
    ASSERT_TRUE(ok) << ok.error().message;
  }
  [[nodiscard]] std::int32_t admitted(std::string_view queue = "cq") {
    std::int32_t n = -1;
    const auto ok = node->inspect([&](const admission::StateView& view) {
      if (const auto* q = view.queue(Symbol(queue))) n = q->counters().admitted;
    });
    EXPECT_TRUE(ok) << ok.error().message;
    return n;
  }

  /// All records of the log, decoded.
  [[nodiscard]] std::vector<std::shared_ptr<const events::Record>> records() const {
    std::vector<std::shared_ptr<const events::Record>> out;
    events::RecordBatch batch;
    for (events::Position from = 1;; from = out.size() + 1) {
      EXPECT_TRUE(log.read(from, {}, batch));
      if (batch.empty()) return out;
      for (const auto& stored : batch) out.push_back(*events::decode(stored.bytes));
    }
  }
  template <class Kind>
  [[nodiscard]] std::size_t count_bodies() const {
    std::size_t n = 0;
    for (const auto& r : records()) n += std::holds_alternative<Kind>(r->view().body) ? 1 : 0;
    return n;
  }
  template <class Kind>
  [[nodiscard]] std::size_t count_observations() const {
    std::size_t n = 0;
    for (const auto& r : records())
      if (const auto* o = std::get_if<Observation>(&r->view().body)) n += std::holds_alternative<Kind>(*o) ? 1 : 0;
    return n;
  }
  /// The state that the loop driver folds from the log.
  [[nodiscard]] std::uint64_t replayed_hash() const {
    admission::LoopDriver loop(options.settings_reader);
    for (const auto& r : records()) {
      const auto ok = loop.apply(r->view());
      EXPECT_TRUE(ok) << ok.error().message;
    }
    return loop.state_hash();
  }
  void expect_state_of_log() {
    const auto hash = node->state_hash();
    ASSERT_TRUE(hash) << hash.error().message;
    EXPECT_EQ(*hash, replayed_hash());
  }

  Facts facts;
  events::MemoryLog log;
  std::shared_ptr<VirtualClock> clock = std::make_shared<VirtualClock>(facts.now);
  NodeOptions options;
  std::mutex mutex;
  std::vector<admission::Intent> intents;  ///< Guarded by `mutex`.
  std::vector<std::string> notices;        ///< Guarded by `mutex`.
  std::unique_ptr<Node> node;              ///< Last: ends before what it uses.
};

}  // namespace hindsight::actors::testing
