#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "vocabulary/result.hpp"

namespace hindsight::bench {

/// The load of Jobs, in place of the load of Workloads.
struct JobSettings {
  std::size_t count = 0;                ///< --jobs; 0: none.
  std::size_t slots = 0;                ///< So many run at a time; 0: all of them.
  std::chrono::milliseconds runs{500};  ///< With slots: from the start of a Job to its end.
  std::size_t one_by_one = 0;           ///< So many Jobs on an idle cluster, each after the end of the one before it; 0: none.
  bool waiting = false;                 ///< Nothing ends: who has no slot waits.

  [[nodiscard]] bool any() const { return count > 0 || one_by_one > 0; }
};

/// What the command line asks for.
struct Settings {
  std::string input = "baseline";
  double scale = 1;
  JobSettings jobs;
  std::size_t in_flight = 32;
  bool with_bare = true;
  bool with_load = true;
  bool check = false;
  bool serial_owner = false;
  std::string definitions = "deploy/crds";
  std::vector<std::string> more;  ///< For `hindsight run`.
  std::string program = HINDSIGHT_PROGRAM;
  std::string keep;  ///< A folder for what Hindsight says and for its log.
};

/// Errors: invalid, with what was found and what is allowed.
[[nodiscard]] Result<Settings> read_options(int argc, char** argv);

}  // namespace hindsight::bench
