#include "cli/remote/remote_options.hpp"
#include "vocabulary/printable.hpp"

#include <ostream>

#include <nlohmann/json.hpp>

namespace hindsight::cli {

void add_connection_options(CLI::App& command, RemoteOptions& options) {
  command.add_option("--kubeconfig", options.kubeconfig, "Which cluster; else KUBECONFIG, the service account, ~/.kube/config");
  command.add_option("--context", options.context, "Context of the kubeconfig");
}

void add_namespace_options(CLI::App& command, RemoteOptions& options, bool all) {
  auto* one = command.add_option("-n,--namespace", options.namespace_, "The namespace; else that of the context");
  if (all) command.add_flag("-A,--all-namespaces", options.all_namespaces, "All namespaces")->excludes(one);
}

void add_dry_run(CLI::App& command, RemoteOptions& options) {
  command
      .add_option("--dry-run", options.dry_run,
                  "client: print only what would be sent; server: let the API server judge it, and keep nothing")
      ->check(CLI::IsMember({"none", "client", "server"}))
      ->capture_default_str();
}

std::string resource_name(const std::string& api_version, const std::string& kind, const std::string& name) {
  std::string out = kind;
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  const auto slash = api_version.find('/');
  if (slash != std::string::npos) out += "." + api_version.substr(0, slash);
  return out + "/" + name;
}

void print_done(const Session& session, const RemoteOptions& options, const Json& object, const char* done) {
  if (options.format == "json" || options.format == "yaml") {
    Json shown = object;
    if (shown.contains("metadata")) shown["metadata"].erase("managedFields");
    return print_document(session, shown, options.format);
  }
  session.out << printable(
      resource_name(object.value("apiVersion", ""), object.value("kind", ""), object.value("metadata", Json::object()).value("name", "")));
  if (options.format != "name") {
    session.out << " " << done;
    if (options.how() != DryRun::none) session.out << (options.how() == DryRun::client ? " (client dry run)" : " (server dry run)");
  }
  session.out << "\n";
}

}  // namespace hindsight::cli
