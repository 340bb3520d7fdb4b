#include "cli/log_options.hpp"

#include <filesystem>
#include <system_error>

namespace hindsight::cli {

Result<std::string> named_log(const std::string& log) {
  if (!log.empty()) return log;
  std::error_code ignored;
  if (std::filesystem::exists(default_log, ignored)) return std::string(default_log);
  const std::string folder = std::filesystem::current_path(ignored).string();
  return fail(ErrorKind::invalid, "--log: no log is named, and there is no " + std::string(default_log) + " in " +
                                      (folder.empty() ? "this folder" : folder) +
                                      "; allowed: --log sqlite:FILE, --log kafka:HOST:PORT[,...][/PREFIX], or the same in the environment "
                                      "variable HINDSIGHT_LOG");
}

}  // namespace hindsight::cli
