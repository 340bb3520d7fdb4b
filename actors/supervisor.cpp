#include "actors/supervisor.hpp"

#include <string>

#include <caf/all.hpp>

#include "actors/defaults.hpp"
#include "actors/sequencer.hpp"

namespace hindsight::actors {

namespace {

using Self = SupervisorActor::stateful_pointer<Supervisor>;

void start_sequencer(Self self) {
  Supervisor& s = self->state;
  s.sequencer = self->spawn<caf::monitored>(sequencer_actor, s.core);
  s.core->set_sequencer(s.sequencer);
  caf::anon_send(s.sequencer, start_atom::value);
}

/// Does the sequencer's end allow another life?
bool may_restart(Supervisor& s) {
  const auto now = std::chrono::steady_clock::now();
  s.failures.push_back(now);
  while (now - s.failures.front() > s.core->options.restart_window) s.failures.pop_front();
  return s.failures.size() <= s.core->options.restarts_max;
}

/// What can be done about a domain that fails again and again.
std::string way_out(const NodeCore& core) {
  const auto record = core.deciding ? core.newest_object.load() : core.at_record.load();
  if (record == 0) return {};
  const std::string where = core.deciding
                                ? "; it failed while it decided, and record " + std::to_string(record) + " told the newest of an object"
                                : "; it failed at record " + std::to_string(record);
  return where + ". A newer release may take it; else this sets the record aside, for every reader and for ever: " +
         core.quarantine_command(record);
}

void sequencer_ended(Self self, const caf::down_msg& m) {
  Supervisor& s = self->state;
  s.core->set_sequencer(SequencerActor());
  s.sequencer = nullptr;
  const bool wanted = s.stopping || s.core->given_up().has_value();
  if (!wanted) {
    const std::string why = text_of(self->system(), m.reason);
    if (may_restart(s)) {
      s.core->report([](NodeStatus& status) {
        ++status.restarts;
        status.caught_up = false;
      });
      s.core->unrest();
      s.core->notice("the domain failed and is built again: " + why);
      start_sequencer(self);
      return;
    }
    s.core->give_up({ErrorKind::unavailable, "domain " + s.core->options.domain + " failed " + std::to_string(s.failures.size()) +
                                                 " times within " + std::to_string(s.core->options.restart_window.count()) +
                                                 " s (allowed: " + std::to_string(s.core->options.restarts_max) +
                                                 "), the last time with: " + why + way_out(*s.core)});
  }
  s.core->end();
  self->quit();
}

}  // namespace

SupervisorActor::behavior_type supervisor_actor(SupervisorActor::stateful_pointer<Supervisor> self, std::shared_ptr<NodeCore> core) {
  install_defaults(self, "supervisor");
  self->state.core = std::move(core);
  self->set_down_handler([self](caf::scheduled_actor*, caf::down_msg& m) { sequencer_ended(self, m); });
  return {
      [self](start_atom) { start_sequencer(self); },
      [self](stop_atom) {
        self->state.stopping = true;
        if (self->state.sequencer)
          caf::anon_send(self->state.sequencer, stop_atom::value);
        else
          self->quit();
      },
  };
}

}  // namespace hindsight::actors
