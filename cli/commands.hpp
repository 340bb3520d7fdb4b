#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "cli/session.hpp"

namespace hindsight::cli {

// Every command adds itself with its options; the session must outlive the application.

void add_get(CLI::App& app, Session& session);
void add_describe(CLI::App& app, Session& session);
void add_history(CLI::App& app, Session& session);
void add_why(CLI::App& app, Session& session);
void add_how(CLI::App& app, Session& session);
void add_top(CLI::App& app, Session& session);
void add_plan(CLI::App& app, Session& session);  ///< plan defrag.
void add_diff(CLI::App& app, Session& session);
void add_compare_kueue(CLI::App& app, Session& session);
void add_verify(CLI::App& app, Session& session);
void add_audit(CLI::App& app, Session& session);
void add_what_if(CLI::App& app, Session& session);
void add_eta(CLI::App& app, Session& session);
void add_export(CLI::App& app, Session& session);
void add_evidence(CLI::App& app, Session& session);  ///< A file about one workload.
void add_debug(CLI::App& app, Session& session);
void add_bisect(CLI::App& app, Session& session);
void add_blame(CLI::App& app, Session& session);
void add_nodes(CLI::App& app, Session& session);
void add_replay(CLI::App& app, Session& session);
void add_log(CLI::App& app, Session& session);  ///< log cat, stats, check, init, copy.
void add_version(CLI::App& app, Session& session);
void add_completion(CLI::App& app, Session& session);
void add_help(CLI::App& app, Session& session);

/// What `hindsight version` and `hindsight --version` print, without a line feed.
[[nodiscard]] std::string version_line();

// What acts on the present, if this build has it (run.cpp, simulate.cpp).
void add_run(CLI::App& app, Session& session);
void add_ui(CLI::App& app, Session& session);  ///< The page.
void add_doctor(CLI::App& app, Session& session);
void add_simulate(CLI::App& app, Session& session);

// What asks and changes a cluster (cli/remote/).
void add_create(CLI::App& app, Session& session);
void add_list(CLI::App& app, Session& session);
void add_migrate(CLI::App& app, Session& session);  ///< migrate check (cli/migrate/).
void add_stop_and_resume(CLI::App& app, Session& session);
void add_pass_through_commands(CLI::App& app, Session& session);  ///< edit, patch, delete.
void add_delete_workload(CLI::App& parent, Session& session);

// The parts of `log`.
void add_log_cat(CLI::App& log, Session& session);
void add_log_stats(CLI::App& log, Session& session);
void add_log_check(CLI::App& log, Session& session);
void add_log_init(CLI::App& log, Session& session);
void add_log_copy(CLI::App& log, Session& session);
void add_log_trim(CLI::App& log, Session& session);
void add_log_quarantine(CLI::App& log, Session& session);
void add_log_key(CLI::App& log, Session& session);
void add_log_checkpoints(CLI::App& log, Session& session);

}  // namespace hindsight::cli
