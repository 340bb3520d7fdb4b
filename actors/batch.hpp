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

/// What a shell has to do in one round: the messages of some entities, one entity after the other, and what these say to it. The sequencer
/// fills it, hands it to the shell, and looks at it again only after the round; so nothing in it needs a lock. Used again in later rounds.
struct Batch {
  explicit Batch(std::shared_ptr<RoundCounter> of) : counter(std::move(of)) {}

  /// One entity and how many of `messages` are for it, those after the part before.
  struct Part {
    admission::Entity* entity = nullptr;
    std::size_t messages = 0;
  };

  std::shared_ptr<RoundCounter> counter;
  std::vector<Part> parts;
  admission::Context context;
  std::shared_ptr<const admission::Catalog> catalog;  ///< Keeps what `context` points to.
  std::vector<admission::Message> messages;
  admission::Outbox out;
};

using BatchPtr = std::shared_ptr<Batch>;

}  // namespace hindsight::actors
