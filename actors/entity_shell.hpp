#pragma once

#include <memory>

#include "actors/interfaces.hpp"
#include "admission/entities.hpp"

namespace hindsight::actors {

/// The shell of one entity. The entity itself lives in `store`; only the shell that has a batch in hand touches it, so an idle shell may be
/// dropped at any time and another may be made later. An exception ends the shell: the sequencer, which monitors it, gives the domain up.
EntityShell::behavior_type entity_shell(EntityShell::pointer self, std::shared_ptr<admission::Entities> store, admission::Entity* entity);

}  // namespace hindsight::actors
