#include "cli/session.hpp"

#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <utility>

#include "cli/printable_stream.hpp"
#include "cli/progress.hpp"
#include "projections/table.hpp"
#include "vocabulary/printable.hpp"

namespace hindsight::cli {

void Session::warn(const std::string& text) const { err << "hindsight: warning: " << printable(text) << std::endl; }

Session standard_session() {
  const bool out = isatty(STDOUT_FILENO) == 1;
  const bool err = isatty(STDERR_FILENO) == 1;
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  const bool dumb = term != nullptr && std::string_view(term) == "dumb";
  const bool colour = out && !dumb && (no_color == nullptr || *no_color == '\0');
  // They live until the process ends: what a command still holds is written then.
  static PrintableStream printable_out(std::cout, colour ? projections::tone_sequences() : std::vector<std::string>());
  static PrintableStream printable_err(std::cerr, err ? std::vector<std::string>{std::string(clear_line)} : std::vector<std::string>());
  return {printable_out, printable_err, out, err, colour, {}};
}

CLI::App* add_command(CLI::App& parent, Session& session, const std::string& name, const std::string& description,
                      const std::string& examples, std::function<Result<int>()> action) {
  auto* command = parent.add_subcommand(name, description);
  command->footer("Examples:\n" + examples);
  command->callback([&session, action = std::move(action)] { session.action = action; });
  return command;
}

}  // namespace hindsight::cli
