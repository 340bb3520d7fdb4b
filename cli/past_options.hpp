#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "cli/session.hpp"
#include "events/log.hpp"
#include "replay/moment.hpp"
#include "replay/past.hpp"

namespace hindsight::cli {

/// Options of every command that reads a log.
struct PastOptions {
  std::string log, log_config;  ///< `log` is empty when none was named.
  std::string domain;
  std::string at = "latest";
};

/// Adds --log and --domain, and --at where one moment is looked at.
void add_past_options(CLI::App& command, PastOptions& options, bool with_at);

/// Adds --tz, the time zone of moments without one.
void add_time_zone(CLI::App& command);

/// Refuses what is no moment, as wrong usage.
[[nodiscard]] CLI::Validator is_moment();

/// Opens what --log names (see named_log); works beside a live writer and on a copy. Errors: those of named_log and open_log.
[[nodiscard]] Result<std::unique_ptr<events::Log>> open_for_reading(const std::string& location, const std::string& log_config);
[[nodiscard]] inline Result<std::unique_ptr<events::Log>> open_for_reading(const PastOptions& options) {
  return open_for_reading(options.log, options.log_config);
}

/// A log and the state of one of its domains at the moment that was asked for.
struct Journey {
  std::unique_ptr<events::Log> log;
  std::unique_ptr<replay::Past> past;

  [[nodiscard]] const admission::StateView& state() const { return past->driver(); }
  [[nodiscard]] replay::Position position() const { return past->position(); }
};

/// Errors of a fold say up to where the log stays usable.
[[nodiscard]] Result<void> fold(replay::Past& past, replay::Position to);
/// The same record by record, for who looks on (Past::fold_to).
[[nodiscard]] Result<void> fold_on(replay::Past& past, replay::Position to);

/// Brings the past to the earliest moment that the log can still give: before its first record, or at the oldest readable snapshot where
/// its beginning was forgotten. Errors: not_found (there is none), and those of a fold.
[[nodiscard]] Result<void> fold_to_beginning(const events::Log& log, replay::Past& past);
/// The same for a command that tells everything from the beginning on: warns where that is not the beginning of the domain.
[[nodiscard]] Result<void> fold_to_beginning(const Session& session, const events::Log& log, replay::Past& past);

[[nodiscard]] Result<Journey> travel(const Session& session, const PastOptions& options);

/// Warns of what a fold has met: snapshots that cannot be used, rules that are newer than this build.
void tell_notices(const Session& session, const replay::Past& past);

/// A time as people want it, to microseconds where it has some.
[[nodiscard]] std::string moment_text(replay::Position position, Time time);

}  // namespace hindsight::cli
