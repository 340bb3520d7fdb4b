#pragma once

#include <functional>
#include <iosfwd>
#include <stop_token>
#include <string>
#include <vector>

#include "connectors/manifests/manifest_reader.hpp"
#include "events/log.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::runtime {

struct QuickstartOptions {
  std::string log_file;  ///< For the commands that are printed at the end.
  std::string program;   ///< How the user calls us, as a word of the shell.
  bool keep = false;     ///< Stay until `stop` when everything has ended.
  /// Called when it stays: serves the page of the log until this process ends, and says where.
  std::function<Result<std::string>()> serve_page;
  bool colour = false;
};

/// What the quick start plays, and under which configuration.
struct Play {
  connectors::manifests::Scenario scenario;
  std::string configuration;  ///< JSON; empty: defaults.
};

/// The one scenario that was given; manifests are one, too. `configuration`: JSON that the scenario's own settings come on top of. Errors:
/// invalid (several scenarios, a scenario and manifests, settings that are none).
[[nodiscard]] Result<Play> play_of(connectors::manifests::Input input, const std::string& configuration);

/// Runs the control plane, actors and log as in production, on the simulated cluster: virtual time passes as soon as nothing is left to do
/// at a moment. Tells on `out` what happens and on `err` what is wrong, from several threads by turns; no text of an object makes a line of
/// its own. Errors: a log that cannot be written, a scenario that names what is not there.
[[nodiscard]] Result<void> run_quickstart(events::Log& log, Play play, const QuickstartOptions& options, std::ostream& out,
                                          std::ostream& err, const std::stop_token& stop);

}  // namespace hindsight::runtime
