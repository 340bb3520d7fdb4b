#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>

#include "admission/state/snapshot.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "events/record.hpp"
#include "runtime/build_facts.hpp"
#include "runtime/release.hpp"

namespace hindsight::cli {

using runtime::build_facts;
using runtime::release;

std::string version_line() {
  return "hindsight " + std::string(release) + " (records of schema " + std::to_string(events::schema_version) + ", snapshots of version " +
         std::to_string(admission::snapshot_version) + ")";
}

void add_version(CLI::App& app, Session& session) {
  const auto format = std::make_shared<std::string>();
  auto* c = add_command(app, session, "version", "The release, and the versions of records and snapshots that it reads",
                        "  hindsight version\n"
                        "  hindsight version -o json",
                        [format, &session]() -> Result<int> {
                          const auto built = build_facts();
                          const Json out{{"version", release},
                                         {"schema", events::schema_version},
                                         {"snapshot", admission::snapshot_version},
                                         {"commit", built.at("git_commit")},
                                         {"commitDate", built.at("build_date")},
                                         {"compiler", built.at("compiler")},
                                         {"platform", built.at("platform")}};
                          if (*format == "text") {
                            session.out << version_line() << "\n";
                          } else {
                            print_document(session, out, *format);
                          }
                          return exit_ok;
                        });
  add_output(*c, *format, {"text", "json", "yaml"});
}

}  // namespace hindsight::cli
