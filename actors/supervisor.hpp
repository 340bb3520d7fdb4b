#pragma once

#include <chrono>
#include <deque>
#include <memory>

#include "actors/node_core.hpp"

namespace hindsight::actors {

/// What the supervisor remembers: it keeps one sequencer alive, and gives the node up when that fails too often.
struct Supervisor {
  std::shared_ptr<NodeCore> core;
  SequencerActor sequencer;
  bool stopping = false;
  std::deque<std::chrono::steady_clock::time_point> failures;  ///< Within the restart window.
};

/// The sequencer's shells quit with it (nobody else holds them), so a restart uses nothing of what was half changed.
SupervisorActor::behavior_type supervisor_actor(SupervisorActor::stateful_pointer<Supervisor> self, std::shared_ptr<NodeCore> core);

}  // namespace hindsight::actors
