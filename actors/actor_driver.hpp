#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "admission/domain/domain.hpp"
#include "admission/domain/entities.hpp"
#include "admission/domain/state_view.hpp"
#include "admission/messages.hpp"

namespace hindsight::actors {

/// All entities of one domain under CAF, one step at a time, without a log: the counterpart of admission::LoopDriver for benchmarks and
/// tests. The node runs the same engine behind a log. Call it from one thread that is no actor.
class ActorDriver {
 public:
  struct Options {
    std::size_t threads = 0;                              ///< 0: one a core.
    std::optional<std::uint64_t> schedule_seed;           ///< Runs everything in the calling thread; the seed picks which actor runs next.
    std::size_t shells_max = 10'000;                      ///< See EngineOptions.
    std::size_t inline_receivers = 0;                     ///< See EngineOptions.
    std::function<void(const admission::Message&)> hook;  ///< Sees each message before its entity; what it throws kills the domain.
  };

  ActorDriver(admission::Domain::SettingsReader reader, Options options);
  ~ActorDriver();
  ActorDriver(const ActorDriver&) = delete;
  ActorDriver& operator=(const ActorDriver&) = delete;

  /// Folds one record. Errors: those of Domain::begin; unavailable when an entity has failed, from then on.
  [[nodiscard]] Result<void> apply(const RecordView& record);
  /// The next step that the state calls for, or nothing when it is at rest. Errors: unavailable.
  [[nodiscard]] Result<std::optional<admission::Domain::Step>> decide();
  /// Calls `look` between two steps. Errors: unavailable.
  [[nodiscard]] Result<void> inspect(const std::function<void(const admission::StateView&)>& look);
  /// The same with leave to change what is no state: intents that were collected, a snapshot that is read into a fresh domain, records that
  /// are folded without shells.
  [[nodiscard]] Result<void> with_entities(const std::function<void(admission::Entities&)>& work);
  /// Workload parents that have a shell now.
  [[nodiscard]] std::size_t shells();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hindsight::actors
