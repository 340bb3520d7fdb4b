#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <iosfwd>
#include <string>

#include "vocabulary/result.hpp"

namespace hindsight::cli {

/// What the process ends with.
enum ExitCode : int {
  exit_ok = 0,
  exit_failure = 1,  ///< It could not be done, or what was looked for was found (verify, log check).
  exit_usage = 2,    ///< Wrong options, arguments or input files: what an action returns as ErrorKind::invalid.
};

/// One call of the binary: where to write, what the terminal can do, and what is to be done once all options are read.
struct Session {
  std::ostream& out;
  std::ostream& err;
  bool out_is_terminal = false;
  bool err_is_terminal = false;
  bool colour = false;  ///< Standard output is a terminal and NO_COLOR is not set.

  /// Set by the command that was chosen.
  std::function<Result<int>()> action;
  /// How it was called: "hindsight", or as a plugin "kubectl hindsight", "kubectl kueue".
  std::string program = "hindsight";

  /// "hindsight: warning: …" on standard error, on one line.
  void warn(const std::string& text) const;
};

/// The error as one of use: an input file that is not there was named by the user.
[[nodiscard]] inline tl::unexpected<Error> wrong_input(Error error) {
  if (error.kind == ErrorKind::not_found) error.kind = ErrorKind::invalid;
  return tl::unexpected(std::move(error));
}

/// What this process writes to.
[[nodiscard]] Session standard_session();

/// A sub-command with its example in the help; its callback sets `session.action`.
CLI::App* add_command(CLI::App& parent, Session& session, const std::string& name, const std::string& description,
                      const std::string& examples, std::function<Result<int>()> action);

}  // namespace hindsight::cli
