#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "vocabulary/result.hpp"

namespace hindsight::cli {

/// What the help of every command says of --log.
inline constexpr const char* log_help = "The log: sqlite:FILE, FILE, or kafka:HOST:PORT[,...][/PREFIX][?partition=N]";

/// The file in the current folder that `hindsight run` writes, and that readers look at, when no log is named.
inline constexpr const char* default_log = "hindsight.db";

/// Adds --log, which may also stand in HINDSIGHT_LOG. `log` stays empty when none is named: see `named_log`.
inline CLI::Option* add_log_option(CLI::App& command, std::string& log, const char* help = log_help) {
  return command.add_option("--log", log, help)->envname("HINDSIGHT_LOG")->type_name("LOG")->default_str(default_log);
}

/// The log that was named, else the default one. Errors: invalid (none was named, and the default one is not there).
[[nodiscard]] Result<std::string> named_log(const std::string& log);

/// Adds --log-config.
inline CLI::Option* add_log_config(CLI::App& command, std::string& file) {
  return command
      .add_option("--log-config", file,
                  "Settings of the way to Kafka, one KEY=VALUE a line, as librdkafka calls them: TLS, SASL, compression")
      ->envname("HINDSIGHT_LOG_CONFIG")
      ->type_name("FILE");
}

}  // namespace hindsight::cli
