#pragma once

#include <iosfwd>
#include <memory>
#include <optional>
#include <string>

#include "evidence/keys.hpp"
#include "operations/configuration.hpp"
#include "operations/signals.hpp"
#include "runtime/run_options.hpp"
#include "vocabulary/result.hpp"
#include "vocabulary/time.hpp"

namespace hindsight::runtime {

/// How this process is called in leases and in the log: unlike any other, also after it was started again.
[[nodiscard]] std::string identity();

/// What --keep-history asks for; nothing: everything is kept. Errors: invalid.
[[nodiscard]] Result<std::optional<Duration>> history_to_keep(const RunOptions& options);

/// The control plane of a real cluster in this process: mirrors it into the log, decides (--role all), and carries out what was decided, as
/// long as it leads and until it is told to stop. The exit code; `err` gets the reason of a failure.
[[nodiscard]] int run_control_plane(const RunOptions& options, const std::optional<Duration>& keep_history,
                                    std::shared_ptr<const evidence::SigningKey> checkpoint_key,
                                    const operations::Configuration& configuration, operations::Signals& signals, std::ostream& err);

}  // namespace hindsight::runtime
