#include "cli/remote/pass_through.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <unistd.h>

#include "cli/commands.hpp"
#include "cli/kinds.hpp"

namespace hindsight::cli {
namespace {

bool starts_option(const std::vector<std::string>& arguments, std::string_view name) {
  return std::any_of(arguments.begin(), arguments.end(),
                     [&](const std::string& a) { return a == name || a.starts_with(std::string(name) + "="); });
}

/// "cq/team-a" as "clusterqueues.kueue.x-k8s.io/team-a"; what is no kind of ours stays as it is.
std::string with_group(const std::string& text) {
  const auto slash = text.find('/');
  const auto* known = find_kind(text.substr(0, slash));
  if (known == nullptr) return text;
  const std::string group(known->group);
  return std::string(known->plural) + (group.empty() ? "" : "." + group) + (slash == std::string::npos ? "" : text.substr(slash));
}

/// A command whose words are all for kubectl.
CLI::App* add_pass_through(CLI::App& parent, Session& session, const std::string& name, const std::string& description,
                           const std::vector<std::string>& before) {
  auto* c = parent.add_subcommand(name, description);
  c->prefix_command();
  c->callback([c, before, &session] {
    std::vector<std::string> words = before;
    for (auto& word : c->remaining()) words.push_back(word);
    session.action = [words] { return become_kubectl(kubectl_words(words)); };
  });
  return c;
}

}  // namespace

std::vector<std::string> kubectl_words(const std::vector<std::string>& arguments) {
  std::vector<std::string> out = arguments;
  if (out.size() < 2) return out;
  std::string with_groups;  // "cq,lq" are two
  for (std::size_t at = 0; at <= out[1].size();) {
    const auto comma = std::min(out[1].find(',', at), out[1].size());
    with_groups += (at == 0 ? "" : ",") + with_group(out[1].substr(at, comma - at));
    at = comma + 1;
  }
  out[1] = std::move(with_groups);
  return out;
}

bool is_for_cluster(const std::string& program, const std::vector<std::string>& arguments, bool log_in_environment) {
  if (arguments.size() < 2 || (arguments[0] != "get" && arguments[0] != "describe")) return false;
  if (starts_option(arguments, "--help") || starts_option(arguments, "-h")) return false;
  if (starts_option(arguments, "--log")) return false;
  if (starts_option(arguments, "--kubeconfig") || starts_option(arguments, "--context")) return true;
  return program == "kubectl kueue" && !log_in_environment;
}

Result<int> become_kubectl(const std::vector<std::string>& words) {
  std::vector<std::string> all{"kubectl"};
  all.insert(all.end(), words.begin(), words.end());
  std::vector<char*> pointers;
  for (auto& word : all) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  ::execvp("kubectl", pointers.data());
  return fail(ErrorKind::not_found,
              std::string("cannot start kubectl: ") + std::strerror(errno) + "; allowed: a kubectl in one of the folders of PATH");
}

void add_pass_through_commands(CLI::App& app, Session& session) {
  add_pass_through(app, session, "edit", "Edit an object of a cluster, as kubectl does", {"edit"});
  add_pass_through(app, session, "patch", "Change fields of an object of a cluster, as kubectl does", {"patch"});
  auto* remove = app.add_subcommand("delete", "Delete workloads with their jobs, or other objects of a cluster as kubectl does");
  remove->require_subcommand(1);
  add_delete_workload(*remove, session);
  for (const char* kind : {"clusterqueue", "localqueue", "resourceflavor"}) {
    auto* c = add_pass_through(*remove, session, kind, std::string("As kubectl delete ") + kind, {"delete", kind});
    for (const auto& name : find_kind(kind)->names)
      if (name != kind) c->alias(std::string(name));
  }
}

}  // namespace hindsight::cli
