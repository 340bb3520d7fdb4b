#pragma once

#include <memory>

#include "actors/interfaces.hpp"
#include "admission/domain/entities.hpp"

namespace hindsight::actors {

/// The shell of one entity. The entity itself lives in `store`, and a batch says which one it is: only the shell that has a batch in hand
/// touches it, so an idle shell may be dropped or lent to another entity at any time. An exception ends the shell: the sequencer, which
/// monitors it, gives the domain up.
EntityShell::behavior_type entity_shell(EntityShell::pointer self, std::shared_ptr<admission::Entities> store);

}  // namespace hindsight::actors
