#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>

#include "admission/rules.hpp"
#include "admission/state/snapshot.hpp"
#include "cli/commands.hpp"
#include "cli/library_versions.hpp"
#include "cli/output.hpp"
#include "connectors/objects/resource_types.hpp"
#include "events/record.hpp"
#include "runtime/build_facts.hpp"
#include "runtime/release.hpp"
#include "runtime/visibility_api.hpp"

namespace hindsight::cli {
namespace {

/// The apiVersions of all that a control plane watches or writes: "batch/v1", "v1".
std::set<std::string> api_versions_used() {
  std::set<std::string> out;
  for (const auto* type : connectors::all_resource_types)
    out.insert(type->group.empty() ? std::string(type->version) : std::string(type->group) + "/" + std::string(type->version));
  return out;
}

/// What a bug report has to say of the program.
Json version_document() {
  const auto built = runtime::build_facts();
  const std::string visibility(runtime::visibility_group);
  // Objects of the earlier version are read from files, and converted for the API server (connectors/webhooks/conversion.hpp).
  const std::string earlier = std::string(connectors::types::workload.group) + "/v1beta1";
  return {{"version", runtime::release},
          {"schema", events::schema_version},
          {"snapshot", admission::snapshot_version},
          {"rules", admission::rules_version},
          {"commit", built.at("git_commit")},
          {"commitDate", built.at("build_date")},
          {"buildType", build_type()},
          {"compiler", built.at("compiler")},
          {"platform", built.at("platform")},
          {"apiVersions",
           {{"uses", api_versions_used()},
            {"converts", std::set<std::string>{earlier}},
            {"serves", std::set<std::string>{visibility + "/v1beta1", visibility + "/v1beta2"}}}},
          {"libraries", {{"builtWith", libraries_built_with()}, {"loaded", libraries_loaded()}}}};
}

}  // namespace

std::string version_line() {
  return "hindsight " + std::string(runtime::release) + " (records of schema " + std::to_string(events::schema_version) +
         ", snapshots of version " + std::to_string(admission::snapshot_version) + ")";
}

void add_version(CLI::App& app, Session& session) {
  const auto format = std::make_shared<std::string>();
  auto* c =
      add_command(app, session, "version",
                  "The release, and the versions of records and snapshots that it reads; with -o also commit, compiler, libraries and API "
                  "versions",
                  "  hindsight version\n"
                  "  hindsight version -o json",
                  [format, &session]() -> Result<int> {
                    if (*format == "text") {
                      session.out << version_line() << "\n";
                    } else {
                      print_document(session, version_document(), *format);
                    }
                    return exit_ok;
                  });
  add_output(*c, *format, {"text", "json", "yaml"});
}

}  // namespace hindsight::cli
