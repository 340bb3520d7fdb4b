#include "cli/session.hpp"

#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <utility>

namespace hindsight::cli {

void Session::warn(const std::string& text) const { err << "hindsight: warning: " << text << std::endl; }

Session standard_session() {
  const bool out = isatty(STDOUT_FILENO) == 1;
  const bool err = isatty(STDERR_FILENO) == 1;
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  const bool dumb = term != nullptr && std::string_view(term) == "dumb";
  return {std::cout, std::cerr, out, err, out && !dumb && (no_color == nullptr || *no_color == '\0'), {}};
}

CLI::App* add_command(CLI::App& parent, Session& session, const std::string& name, const std::string& description,
                      const std::string& examples, std::function<Result<int>()> action) {
  auto* command = parent.add_subcommand(name, description);
  command->footer("Examples:\n" + examples);
  command->callback([&session, action = std::move(action)] { session.action = action; });
  return command;
}

}  // namespace hindsight::cli
