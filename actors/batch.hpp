#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include <caf/actor.hpp>

#include "admission/messages.hpp"

namespace hindsight::actors {

/// Looks at every message before its entity gets it; what it throws counts as thrown by the entity. For tests of supervision.
using MessageHook = std::function<void(const admission::Message&)>;

/// How many shells of the present round still work, and whom the last one tells.
struct RoundCounter {
  std::atomic<std::size_t> missing{0};
  caf::actor sequencer;
  MessageHook hook;
  /// What the messages of the step point into. When the sequencer ends in the midst of a round, other shells are still at work.
  std::shared_ptr<const void> memory;
};

/// What one entity gets in one round, and what it says to it. The sequencer fills `messages`, hands the batch to the shell, and looks
/// at it again only after the round; so nothing in it needs a lock. Used again in later rounds.
struct Batch {
  explicit Batch(std::shared_ptr<RoundCounter> of) : counter(std::move(of)) {}

  std::shared_ptr<RoundCounter> counter;
  admission::Entity* entity = nullptr;  ///< Whom the messages are for.
  admission::Context context;
  std::shared_ptr<const admission::Catalog> catalog;  ///< Keeps what `context` points to.
  std::vector<admission::Message> messages;
  admission::Outbox out;
};

using BatchPtr = std::shared_ptr<Batch>;

}  // namespace hindsight::actors
