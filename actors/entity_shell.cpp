#include "actors/entity_shell.hpp"

#include <caf/all.hpp>

#include "actors/defaults.hpp"
#include "actors/delivery.hpp"

namespace hindsight::actors {

EntityShell::behavior_type entity_shell(EntityShell::pointer self, std::shared_ptr<admission::Entities> store) {
  install_defaults(self, "entity");
  return {
      [self, store = std::move(store)](const BatchPtr& batch) {
        RoundCounter& round = *batch->counter;
        work_on(*batch, round.hook);
        if (round.missing.fetch_sub(1, std::memory_order_acq_rel) == 1)
          caf::actor_cast<caf::abstract_actor*>(round.sequencer)
              ->eq_impl(caf::make_message_id(), nullptr, self->context(), round_over::value);
      },
  };
}

}  // namespace hindsight::actors
