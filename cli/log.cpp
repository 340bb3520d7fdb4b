#include "cli/commands.hpp"

namespace hindsight::cli {

void add_log(CLI::App& app, Session& session) {
  auto* log = app.add_subcommand("log", "The records themselves: print, count, check, copy, trim, quarantine, keys, checkpoints");
  log->require_subcommand(1);
  add_log_cat(*log, session);
  add_log_stats(*log, session);
  add_log_check(*log, session);
  add_log_init(*log, session);
  add_log_copy(*log, session);
  add_log_trim(*log, session);
  add_log_quarantine(*log, session);
  add_log_key(*log, session);
  add_log_checkpoints(*log, session);
}

}  // namespace hindsight::cli
