#include <unistd.h>

#include <iostream>
#include <memory>

#include "cli/commands.hpp"
#include "cli/debugger.hpp"
#include "cli/past_options.hpp"
#include "vocabulary/printable.hpp"

namespace hindsight::cli {
namespace {

struct DebugOptions {
  PastOptions past;
  std::vector<std::string> commands;
  bool batch = false;
};

constexpr std::size_t line_max = std::size_t{1} << 16;

/// False: the input has ended. Of a line that is too long no more is read than shows it.
bool next_line(std::istream& in, std::string& line) {
  line.clear();
  for (int c = in.get(); c != std::istream::traits_type::eof(); c = in.get()) {
    if (c == '\n') return true;
    line.push_back(static_cast<char>(c));
    if (line.size() > line_max) return true;
  }
  return !line.empty();
}

Result<int> debug(const Session& session, const DebugOptions& o) {
  auto journey = travel(session, o.past);
  if (!journey) return tl::unexpected(journey.error());
  Debugger debugger(session, std::move(*journey));
  for (const auto& command : o.commands) {
    const auto went_on = debugger.run(command);
    if (!went_on) return tl::unexpected(went_on.error());
    if (!*went_on) return exit_ok;
  }
  if (!o.commands.empty() && !o.batch) return exit_ok;
  // People see a prompt, and a wrong command ends nothing; a script sees neither.
  const bool people = !o.batch && session.out_is_terminal && isatty(STDIN_FILENO) != 0;
  if (people) {
    debugger.print_place();
    session.out << "'help' lists the commands.\n";
  }
  std::string line;
  for (;;) {
    if (people) session.out << printable(debugger.prompt()) << std::flush;
    if (!next_line(std::cin, line)) return exit_ok;
    if (line.size() > line_max)
      return fail(ErrorKind::invalid, "found a command of more than " + std::to_string(line_max) + " bytes; allowed: at most so many");
    const auto went_on = debugger.run(line);
    if (!went_on && !people) return tl::unexpected(went_on.error());
    if (!went_on) session.out << "error: " << printable(went_on.error().message) << "\n";
    if (went_on && !*went_on) return exit_ok;
  }
}

}  // namespace

void add_debug(CLI::App& app, Session& session) {
  const auto o = std::make_shared<DebugOptions>();
  auto* c = add_command(app, session, "debug", "Step through a log, forth and back, with breakpoints and watched values",
                        "  hindsight debug --at 100\n"
                        "  hindsight debug --at 0 -e 'break event WorkloadPreempted' -e run -e queues",
                        [o, &session] { return debug(session, *o); });
  c->add_option("-e,--execute", o->commands, "A command to begin with; may be repeated. With one it ends after the last")
      ->type_name("COMMAND");
  c->add_flag("--batch", o->batch, "Commands come from standard input, without a prompt; a wrong one ends it");
  add_past_options(*c, o->past, true);
}

}  // namespace hindsight::cli
