#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "vocabulary/result.hpp"

namespace hindsight::bench {

/// The main function of a benchmark on a real broker: reads the options, and measures with the broker that $HINDSIGHT_BENCH_KAFKA names and
/// a folder for what nodes say, which stays when something goes wrong. Without a broker nothing is measured. Returns the exit code.
[[nodiscard]] int on_a_broker(CLI::App& options, int argc, char** argv,
                              const std::function<Result<void>(const std::string& broker, const std::string& folder)>& measure);

}  // namespace hindsight::bench
