#pragma once

#include <exception>
#include <string>

#include <spdlog/spdlog.h>
#include <caf/all.hpp>

#include "actors/exception_text.hpp"

namespace hindsight::actors {

/// Why an actor ended: the text of the exception that left one of its handlers, else what CAF calls it.
[[nodiscard]] inline std::string text_of(const caf::actor_system& system, const caf::error& reason) {
  const auto& context = reason.context();
  if (reason == caf::sec::runtime_error && context.match_elements<std::string>()) return context.get_as<std::string>(0);
  return system.render(reason);
}

/// Replaces CAF's default handlers, which print to standard output. Every actor calls it first. `what` names the actor in messages and
/// must live as long as it does (a literal). An exception is not logged: it is the reason of the actor's end, which its watcher tells.
template <class Self>
void install_defaults(Self* self, const char* what) {
  self->set_default_handler([what](caf::scheduled_actor*, caf::message_view& m) -> caf::result<caf::message> {
    spdlog::error("{}: unexpected message {}", what, caf::to_string(m.move_content_to_message()));
    return caf::sec::unexpected_message;
  });
  self->set_exception_handler(
      [](caf::scheduled_actor*, std::exception_ptr& e) -> caf::error { return caf::make_error(caf::sec::runtime_error, text_of(e)); });
  self->set_error_handler([what](caf::scheduled_actor* me, caf::error& e) {
    spdlog::error("{}: error message {}", what, me->system().render(e));
    me->quit(std::move(e));
  });
  self->set_down_handler([what](caf::scheduled_actor* me, caf::down_msg& m) {
    spdlog::error("{}: an actor that nobody watches has ended: {}", what, text_of(me->system(), m.reason));
  });
  self->set_exit_handler([](caf::scheduled_actor* me, caf::exit_msg& m) { me->quit(std::move(m.reason)); });
}

}  // namespace hindsight::actors
