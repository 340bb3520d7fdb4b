#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace hindsight::cli {

/// What the help of every command says of --log.
inline constexpr const char* log_help = "The log: sqlite:FILE, FILE, or kafka:HOST:PORT[,...][/PREFIX][?partition=N]";

/// Adds --log-config.
inline CLI::Option* add_log_config(CLI::App& command, std::string& file) {
  return command
      .add_option("--log-config", file,
                  "Settings of the way to Kafka, one KEY=VALUE a line, as librdkafka calls them: TLS, SASL, compression")
      ->envname("HINDSIGHT_LOG_CONFIG")
      ->type_name("FILE");
}

}  // namespace hindsight::cli
