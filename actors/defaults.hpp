#pragma once

#include <exception>
#include <string>

#include <spdlog/spdlog.h>
#include <caf/all.hpp>

namespace hindsight::actors {

/// "hindsight::..." text of an exception that left a handler.
[[nodiscard]] inline std::string describe(const std::exception_ptr& e) {
  try {
    std::rethrow_exception(e);
  } catch (const std::exception& x) {
    return x.what();
  } catch (...) {
    return "an exception that is no std::exception";
  }
}

/// Replaces CAF's default handlers, which print to standard output. Every actor calls it first. `what` names the actor in messages and
/// must live as long as it does (a literal).
template <class Self>
void install_defaults(Self* self, const char* what) {
  self->set_default_handler([what](caf::scheduled_actor*, caf::message_view& m) -> caf::result<caf::message> {
    spdlog::error("{}: unexpected message {}", what, caf::to_string(m.move_content_to_message()));
    return caf::sec::unexpected_message;
  });
  self->set_exception_handler([what](caf::scheduled_actor*, std::exception_ptr& e) -> caf::error {
    const std::string text = describe(e);
    spdlog::critical("{}: {}", what, text);
    return caf::make_error(caf::sec::runtime_error, std::string(what) + ": " + text);
  });
  self->set_error_handler([what](caf::scheduled_actor* me, caf::error& e) {
    spdlog::error("{}: error message {}", what, me->system().render(e));
    me->quit(std::move(e));
  });
  self->set_down_handler([what](caf::scheduled_actor* me, caf::down_msg& m) {
    spdlog::error("{}: an actor that nobody watches has ended: {}", what, me->system().render(m.reason));
  });
  self->set_exit_handler([](caf::scheduled_actor* me, caf::exit_msg& m) { me->quit(std::move(m.reason)); });
}

}  // namespace hindsight::actors
