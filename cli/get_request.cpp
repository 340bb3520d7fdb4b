#include "cli/get_request.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "projections/format.hpp"

namespace hindsight::cli {
namespace {

using projections::Phase;
using Form = GetRequest::Form;

constexpr std::string_view path_prefix = "jsonpath=", columns_prefix = "custom-columns=";
constexpr const char* output_forms = "{table,wide,json,yaml,name,jsonpath=TEMPLATE,custom-columns=HEADING:PATH}";

const std::vector<std::pair<std::string, Form>>& plain_forms() {
  static const std::vector<std::pair<std::string, Form>> forms{
      {"table", Form::table}, {"wide", Form::wide}, {"json", Form::json}, {"yaml", Form::yaml}, {"name", Form::name}};
  return forms;
}

const std::vector<std::pair<std::string, Phase>>& phase_names() {
  static const std::vector<std::pair<std::string, Phase>> names{{"pending", Phase::pending},   {"quotareserved", Phase::quota_reserved},
                                                                {"admitted", Phase::admitted}, {"evicted", Phase::evicted},
                                                                {"finished", Phase::finished}, {"inactive", Phase::inactive}};
  return names;
}

std::string known_form(std::string& text) {
  if (text.starts_with(path_prefix) || text.starts_with(columns_prefix)) return {};
  for (const auto& [name, form] : plain_forms())
    if (text == name) return {};
  return text + " not in " + output_forms;
}

/// An option that only some kinds take, with another one.
Result<void> only_for(const std::vector<WantedKind>& wanted, bool given, const char* option,
                      std::initializer_list<std::string_view> kinds) {
  if (!given) return {};
  for (const auto& one : wanted) {
    if (std::find(kinds.begin(), kinds.end(), one.kind->plural) != kinds.end()) continue;
    std::vector<std::string> allowed(kinds.begin(), kinds.end());
    return fail(ErrorKind::invalid,
                std::string(option) + ": found with " + std::string(one.kind->plural) + "; allowed: with " + projections::joined(allowed));
  }
  return {};
}

Result<void> read_form(const std::string& text, GetRequest& out) {
  for (const auto& [name, form] : plain_forms())
    if (text == name) out.form = form;
  if (text.starts_with(path_prefix)) {
    auto path = JsonPath::parse_template(std::string_view(text).substr(path_prefix.size()));
    if (!path) return fail(path.error().kind, "--output: " + path.error().message);
    out.form = Form::path;
    out.path = std::move(*path);
  }
  if (text.starts_with(columns_prefix)) {
    auto columns = CustomColumns::parse(text.substr(columns_prefix.size()));
    if (!columns) return tl::unexpected(columns.error());
    out.form = Form::columns;
    out.columns = std::move(*columns);
  }
  return {};
}

Result<void> read_selection(const GetOptions& o, GetRequest& out) {
  if (!o.labels.empty()) {
    std::vector<std::string> kept;
    for (const auto& kind : known_kinds())
      if (kind.labels_kept) kept.emplace_back(kind.plural);
    for (const auto& one : out.wanted)
      if (!one.kind->labels_kept)
        return fail(ErrorKind::invalid, "--selector: found with " + std::string(one.kind->plural) +
                                            ", whose labels decisions do not read and the log does not keep; allowed: with " +
                                            projections::joined(kept) + "; --field-selector chooses by fields");
    auto labels = LabelSelector::parse(o.labels);
    if (!labels) return tl::unexpected(labels.error());
    out.labels = std::move(*labels);
  }
  if (!o.fields.empty())
    for (const auto& one : out.wanted) {
      auto fields = FieldSelector::parse(o.fields, *one.kind);
      if (!fields) return tl::unexpected(fields.error());
      out.fields.push_back(std::move(*fields));
    }
  if (!o.sort_by.empty()) {
    auto sort = JsonPath::parse_expression(o.sort_by);
    if (!sort) return fail(sort.error().kind, "--sort-by: " + sort.error().message);
    out.sort = std::move(*sort);
  }
  return {};
}

}  // namespace

void add_get_options(CLI::App& command, GetOptions& o) {
  command
      .add_option("kind", o.kind,
                  "workloads, clusterqueues, localqueues, cohorts, resourceflavors, topologies, nodes, admissionchecks, "
                  "workloadpriorityclasses, gates, quarantined, events; several with commas between, or KIND/NAME, KIND/NAMESPACE/NAME; "
                  "job/NAME for the Workload of a job")
      ->required();
  command.add_option("name", o.names, "Only these: NAME, NAMESPACE/NAME");
  auto* one = command.add_option("-n,--namespace", o.namespace_, "The namespace")->default_str("default");
  for (const char* names : {"kind", "name"}) command.get_option(names)->check(in_namespace_of(one));
  command.add_flag("-A,--all-namespaces", o.all_namespaces, "All namespaces")->excludes(one);
  command.add_option("-l,--selector", o.labels, "Only LocalQueues or nodes with these labels: KEY=VALUE, KEY in (A,B), !KEY")
      ->type_name("SELECTOR");
  command.add_option("--field-selector", o.fields, "Only objects with these fields: metadata.name=NAME,status.phase!=Finished")
      ->type_name("SELECTOR");
  command.add_option("-c,--clusterqueue", o.cluster_queue, "Only workloads and LocalQueues of this ClusterQueue");
  command.add_option("-q,--localqueue", o.local_queue, "Only workloads of this LocalQueue");
  std::vector<std::string> phases;
  for (const auto& [name, phase] : phase_names()) phases.push_back(name);
  command.add_option("--status", o.phases, "Only workloads that stand so; may be repeated")->check(CLI::IsMember(phases));
  command.add_option("--for", o.for_object, "Only events about this object")->check(in_namespace_of(one))->type_name("KIND/NAME");
  command.add_option("--since", o.since, "Only events from here on, and counted from here")->check(is_moment());
  command.add_option("--sort-by", o.sort_by, "In the order of a field, as a JSONPath: .metadata.name, .spec.priority")
      ->type_name("JSONPATH");
  command.add_flag("--no-headers", o.no_headings, "No line with headings");
  auto* watch = command.add_flag("-w,--watch", o.watch, "Go on with what changes as the log grows, until Ctrl-C");
  command
      .add_flag("--output-watch-events", o.watch_events,
                "With --watch: say of each object whether it was ADDED, MODIFIED or DELETED; as JSON and YAML it is the object of an event")
      ->needs(watch);
  o.format = "table";
  command.add_option("-o,--output", o.format, "How to print")->check(CLI::Validator(known_form, output_forms))->default_str(o.format);
  add_past_options(command, o.past, true);
  watch->excludes(command.get_option("--at"));
}

Result<GetRequest> read_get_request(const GetOptions& o) {
  GetRequest out;
  std::vector<std::string> words{o.kind};
  words.insert(words.end(), o.names.begin(), o.names.end());
  auto wanted = read_wanted(words);
  if (!wanted) return tl::unexpected(wanted.error());
  out.wanted = std::move(*wanted);
  for (const auto& ok : {only_for(out.wanted, !o.cluster_queue.empty(), "--clusterqueue", {"workloads", "localqueues"}),
                         only_for(out.wanted, !o.local_queue.empty(), "--localqueue", {"workloads"}),
                         only_for(out.wanted, !o.phases.empty(), "--status", {"workloads"}),
                         only_for(out.wanted, !o.for_object.empty(), "--for", {"events"}),
                         only_for(out.wanted, !o.since.empty(), "--since", {"events"}), read_form(o.format, out), read_selection(o, out)})
    if (!ok) return tl::unexpected(ok.error());
  if (o.watch_events && out.form == GetRequest::Form::name)
    return fail(ErrorKind::invalid, "--output-watch-events: found with -o name, which has no place for it; allowed: with any other form");
  for (const auto& text : o.phases)
    for (const auto& [name, phase] : phase_names())
      if (name == text) out.phases.insert(phase);
  if (!o.all_namespaces) out.events.namespace_ = o.namespace_;
  if (!o.for_object.empty()) {
    if (auto ok = read_event_object(o.for_object, out.events); !ok) return tl::unexpected(ok.error());
    if (out.events.object_namespace) out.events.namespace_ = out.events.object_namespace;
    if (!out.events.type->namespaced) out.events.namespace_ = "default";  // where events of what is in no namespace lie
  }
  return out;
}

}  // namespace hindsight::cli
