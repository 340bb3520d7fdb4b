#include "page/branches/branch_request.hpp"

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <utility>

#include "vocabulary/ascii.hpp"
#include "vocabulary/limits.hpp"
#include "vocabulary/printable.hpp"
#include "vocabulary/text.hpp"

namespace hindsight::page {
namespace {

using projections::Json;

constexpr std::size_t shown_in_errors = 80;
constexpr int depth_max = 8;  // a request needs four
constexpr std::uint64_t position_max = std::uint64_t{1} << 62;

std::string shown_value(const Json& value) {
  return printable(cut_message(value.dump(-1, ' ', true, Json::error_handler_t::replace), shown_in_errors));
}

/// Whoever writes JSON again goes into the depth of it, and a megabyte of brackets is deeper than a stack.
bool is_nested_deeper(std::string_view json, int most) {
  int depth = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_text) {
      if (c == '\\') ++i;
      if (c == '"') in_text = false;
    } else if (c == '"') {
      in_text = true;
    } else if (c == '[' || c == '{') {
      if (++depth > most) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

tl::unexpected<Error> wrong(const std::string& field, const std::string& found, const std::string& allowed) {
  return fail(ErrorKind::invalid, field + ": found " + found + "; allowed: " + allowed);
}

/// The members of one object of the request, by name; errors name them with where it stands.
class Members {
 public:
  Members(const Json& object, std::string where) : object_(object), where_(std::move(where)) {}

  [[nodiscard]] std::string field(const std::string& name) const { return where_.empty() ? name : where_ + "." + name; }

  /// Refuses members of other names.
  [[nodiscard]] Result<void> only(std::initializer_list<const char*> names) const {
    std::string list;
    for (const auto* name : names) list += (list.empty() ? "" : ", ") + std::string(name);
    if (!object_.is_object()) return wrong(where_.empty() ? "the request" : where_, shown_value(object_), "an object with " + list);
    for (const auto& [name, value] : object_.items())
      if (std::find(names.begin(), names.end(), name) == names.end())
        return wrong(field(printable(cut_text(name, shown_in_errors))), shown_value(value), list);
    return {};
  }

  [[nodiscard]] bool has(const char* name) const { return object_.contains(name) && !object_[name].is_null(); }

  [[nodiscard]] Result<std::string> text(const char* name, std::size_t bytes_max) const {
    if (!has(name)) return wrong(field(name), "nothing", "a text");
    const Json& value = object_[name];
    if (!value.is_string()) return wrong(field(name), shown_value(value), "a text");
    auto out = value.get<std::string>();
    if (out.empty() || out.size() > bytes_max)
      return wrong(field(name), std::to_string(out.size()) + " bytes", "1 to " + std::to_string(bytes_max) + " bytes");
    return out;
  }

  /// A name of an object, as the API server would take it or nearly so.
  [[nodiscard]] Result<std::string> object_name(const char* name, bool may_have_slash = false) const {
    auto out = text(name, limits::key.size());
    if (!out) return out;
    const bool good = std::all_of(out->begin(), out->end(), [&](char c) {
      return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'z') || c == '-' || c == '.' || c == '_' || (may_have_slash && c == '/');
    });
    if (!good)
      return wrong(field(name), shown_value(object_[name]),
                   std::string("letters, digits, -, . and _") + (may_have_slash ? ", and / behind a domain" : ""));
    return out;
  }

  [[nodiscard]] Result<std::uint64_t> number(const char* name, std::uint64_t min, std::uint64_t max) const {
    const std::string allowed = "a whole number from " + std::to_string(min) + " to " + std::to_string(max);
    if (!has(name)) return wrong(field(name), "nothing", allowed);
    const Json& value = object_[name];
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() < min || value.get<std::uint64_t>() > max)
      return wrong(field(name), shown_value(value), allowed);
    return value.get<std::uint64_t>();
  }

  [[nodiscard]] const Json& at(const char* name) const { return object_[name]; }

 private:
  const Json& object_;
  const std::string where_;
};

Result<BranchEdit> quota_card(const Members& m) {
  if (auto ok = m.only({"kind", "clusterQueue", "flavor", "resource", "amount"}); !ok) return tl::unexpected(ok.error());
  QuotaCard out;
  auto queue = m.object_name("clusterQueue");
  if (!queue) return tl::unexpected(queue.error());
  auto resource = m.object_name("resource", true);
  if (!resource) return tl::unexpected(resource.error());
  if (m.has("flavor")) {
    auto flavor = m.object_name("flavor");
    if (!flavor) return tl::unexpected(flavor.error());
    out.flavor = std::move(*flavor);
  }
  auto amount = m.text("amount", limits::quantity.size());
  if (!amount) return tl::unexpected(amount.error());
  // The text of the command splits at ':', '/' and '='. Here the parts are apart already, so only the amount is left to it, with parts
  // around it that cannot be taken otherwise.
  const auto change = whatif::parse_quota_change("clusterqueue/queue:flavor/" + *resource + "=" + *amount);
  if (!change || change->resource != *resource)
    return wrong(m.field("amount"), "\"" + printable(*amount) + "\"",
                 "a quantity of " + *resource + ", as 40, 500m or 16Gi, with + or - before it for so much more or less");
  out.change = *change;
  out.change.node = *queue;
  out.change.flavor = out.flavor;
  out.cluster_queue = std::move(*queue);
  out.resource = std::move(*resource);
  out.amount = std::move(*amount);
  return out;
}

Result<BranchEdit> manifest_card(const Members& m) {
  if (auto ok = m.only({"kind", "yaml"}); !ok) return tl::unexpected(ok.error());
  auto yaml = m.text("yaml", BranchRequest::manifests_bytes_max);
  if (!yaml) return tl::unexpected(yaml.error());
  return ManifestCard{std::move(*yaml)};
}

Result<BranchEdit> drop_card(const Members& m) {
  if (auto ok = m.only({"kind", "object"}); !ok) return tl::unexpected(ok.error());
  if (!m.has("object")) return wrong(m.field("object"), "nothing", "an object with kind, namespace, name");
  const Members object(m.at("object"), m.field("object"));
  if (auto ok = object.only({"kind", "namespace", "name"}); !ok) return tl::unexpected(ok.error());
  auto kind = object.text("kind", limits::dns_label.size());
  if (!kind) return tl::unexpected(kind.error());
  auto namespace_ = object.object_name("namespace");
  if (!namespace_) return tl::unexpected(namespace_.error());
  auto name = object.object_name("name");
  if (!name) return tl::unexpected(name.error());
  const std::string known = projections::target_kind(lower(std::string_view(*kind)));
  if (known.empty()) return wrong(object.field("kind"), "\"" + printable(*kind) + "\"", "Workload, Job, JobSet, RayCluster, RayJob");
  return DropCard{std::move(*kind), {known, std::move(*namespace_), std::move(*name)}};
}

Result<BranchEdit> nodes_card(const Members& m) {
  if (auto ok = m.only({"kind", "count", "like"}); !ok) return tl::unexpected(ok.error());
  const auto count = m.number("count", 1, whatif::NodeChange::count_max);
  if (!count) return tl::unexpected(count.error());
  auto like = m.object_name("like");
  if (!like) return tl::unexpected(like.error());
  return NodesCard{{static_cast<std::size_t>(*count), std::move(*like)}};
}

Result<BranchEdit> feature_gates_card(const Members& m) {
  if (auto ok = m.only({"kind", "text"}); !ok) return tl::unexpected(ok.error());
  auto text = m.text("text", limits::gate_list.size());
  if (!text) return tl::unexpected(text.error());
  if (!is_printable(*text)) return wrong(m.field("text"), "\"" + printable(cut_text(*text, shown_in_errors)) + "\"", "A=true,B=false");
  return FeatureGatesCard{std::move(*text)};
}

Result<BranchEdit> edit_of(const Json& value, const std::string& where) {
  const Members m(value, where);
  const std::string kinds = "quota, manifest, drop, nodes, featureGates";
  if (!value.is_object()) return wrong(where, shown_value(value), "an object with a kind: " + kinds);
  const auto kind = m.text("kind", limits::dns_label.size());
  if (!kind) return tl::unexpected(kind.error());
  if (*kind == "quota") return quota_card(m);
  if (*kind == "manifest") return manifest_card(m);
  if (*kind == "drop") return drop_card(m);
  if (*kind == "nodes") return nodes_card(m);
  if (*kind == "featureGates") return feature_gates_card(m);
  return wrong(m.field("kind"), "\"" + printable(*kind) + "\"", kinds);
}

}  // namespace

Result<BranchRequest> parse_branch_request(std::string_view body) {
  if (body.size() > BranchRequest::body_bytes_max)
    return wrong("the request", std::to_string(body.size()) + " bytes",
                 "at most " + std::to_string(BranchRequest::body_bytes_max) + " bytes");
  if (is_nested_deeper(body, depth_max))
    return wrong("the request", "JSON nested deeper than " + std::to_string(depth_max) + " levels", "name, from, until, edits");
  const Json json = Json::parse(body.begin(), body.end(), nullptr, false);
  if (json.is_discarded()) return wrong("the request", "what is no JSON", "an object with name, from, until, edits");
  const Members m(json, {});
  if (auto ok = m.only({"name", "from", "until", "edits"}); !ok) return tl::unexpected(ok.error());
  BranchRequest out;
  auto name = m.text("name", BranchRequest::name_bytes_max);
  if (!name) return tl::unexpected(name.error());
  if (!is_printable(*name)) return wrong("name", "\"" + printable(*name) + "\"", "a text of printable characters");
  out.name = std::move(*name);
  const auto from = m.number("from", 0, position_max);
  if (!from) return tl::unexpected(from.error());
  out.from = *from;
  if (m.has("until")) {
    const auto until = m.number("until", out.from, position_max);
    if (!until) return tl::unexpected(until.error());
    out.until = *until;
  }
  if (!m.has("edits") || !m.at("edits").is_array())
    return wrong("edits", m.has("edits") ? shown_value(m.at("edits")) : "nothing", "a list");
  const Json& edits = m.at("edits");
  if (edits.size() > BranchRequest::edits_max)
    return wrong("edits", std::to_string(edits.size()), "at most " + std::to_string(BranchRequest::edits_max));
  std::size_t manifests = 0;
  for (std::size_t i = 0; i < edits.size(); ++i) {
    const std::string where = "edits[" + std::to_string(i) + "]";
    auto edit = edit_of(edits[i], where);
    if (!edit) return tl::unexpected(edit.error());
    if (const auto* manifest = std::get_if<ManifestCard>(&*edit)) manifests += manifest->yaml.size();
    if (manifests > BranchRequest::manifests_bytes_max)
      return wrong(where + ".yaml", std::to_string(manifests) + " bytes of manifests together",
                   "at most " + std::to_string(BranchRequest::manifests_bytes_max));
    out.edits.push_back(std::move(*edit));
  }
  return out;
}

Json to_json(const BranchEdit& edit) {
  struct Shown {
    Json operator()(const QuotaCard& q) const {
      Json out{{"kind", "quota"}, {"clusterQueue", q.cluster_queue}};
      if (!q.flavor.empty()) out["flavor"] = q.flavor;
      out["resource"] = q.resource;
      out["amount"] = q.amount;
      return out;
    }
    Json operator()(const ManifestCard& m) const { return {{"kind", "manifest"}, {"yaml", m.yaml}}; }
    Json operator()(const DropCard& d) const {
      return {{"kind", "drop"}, {"object", {{"kind", d.kind}, {"namespace", d.target.namespace_}, {"name", d.target.name}}}};
    }
    Json operator()(const NodesCard& n) const { return {{"kind", "nodes"}, {"count", n.change.count}, {"like", n.change.like}}; }
    Json operator()(const FeatureGatesCard& g) const { return {{"kind", "featureGates"}, {"text", g.text}}; }
  };
  return std::visit(Shown{}, edit);
}

}  // namespace hindsight::page
