#include "whatif/changes.hpp"

#include <algorithm>
#include <charconv>
#include <set>
#include <variant>

#include "admission/domain/domain.hpp"
#include "events/record.hpp"
#include "projections/observed_again.hpp"

namespace hindsight::whatif {
namespace {

using namespace admission;

constexpr std::string_view form = "clusterqueue/NAME:[FLAVOR/]RESOURCE=AMOUNT, =+AMOUNT or =-AMOUNT, or the same of cohort/NAME";

tl::unexpected<Error> refused(std::string_view text) {
  return fail(ErrorKind::invalid, "found \"" + std::string(text) + "\"; allowed: " + std::string(form));
}

}  // namespace

std::string listed(const std::set<std::string>& names) {
  constexpr std::size_t listed_max = 20;
  if (names.empty()) return "none";
  std::string out;
  std::size_t n = 0;
  for (const auto& name : names) {
    if (n++ == listed_max) return out + " and " + std::to_string(names.size() - listed_max) + " more";
    out += (out.empty() ? "" : ", ") + name;
  }
  return out;
}

Amount QuotaChange::applied_to(Amount nominal) const {
  if (how == How::set) return amount;
  return how == How::add ? add(nominal, amount) : std::max<Amount>(0, hindsight::subtract(nominal, amount));
}

Result<QuotaChange> parse_quota_change(std::string_view text) {
  QuotaChange out;
  const auto slash = text.find('/');
  const auto colon = text.find(':', slash == std::string_view::npos ? 0 : slash);
  const auto equal = text.find('=', colon == std::string_view::npos ? 0 : colon);
  if (slash == std::string_view::npos || colon == std::string_view::npos || equal == std::string_view::npos) return refused(text);
  const std::string_view kind = text.substr(0, slash);
  if (kind == "cohort" || kind == "cohorts")
    out.is_cohort = true;
  else if (kind != "clusterqueue" && kind != "clusterqueues" && kind != "cq")
    return refused(text);
  out.node = text.substr(slash + 1, colon - slash - 1);
  // A resource may have a domain ("nvidia.com/gpu"), a flavor has none: of "a/b/c" the flavor is "a". Of "a/b" it is, unless `a` looks like
  // a domain.
  std::string_view resource = text.substr(colon + 1, equal - colon - 1);
  if (const auto first = resource.find('/'); first != std::string_view::npos) {
    const bool another = resource.find('/', first + 1) != std::string_view::npos;
    const bool domain = resource.substr(0, first).find('.') != std::string_view::npos;
    if (another || !domain) {
      if (first == 0) return refused(text);
      out.flavor = resource.substr(0, first);
      resource.remove_prefix(first + 1);
    }
  }
  out.resource = resource;
  std::string_view amount = text.substr(equal + 1);
  if (!amount.empty() && (amount.front() == '+' || amount.front() == '-')) {
    out.how = amount.front() == '+' ? QuotaChange::How::add : QuotaChange::How::subtract;
    amount.remove_prefix(1);
  }
  if (out.node.empty() || out.resource.empty() || amount.empty() || amount.front() == '-' || amount.front() == '+') return refused(text);
  const auto parsed = parse_quantity(amount, out.resource);
  if (!parsed)
    return fail(ErrorKind::invalid, "found \"" + std::string(amount) + "\" for an amount of " + out.resource +
                                        "; allowed: a quantity, as 40, 500m or 16Gi, with + or - before it for so much more or less");
  if (*parsed == unlimited && amount != std::to_string(unlimited))  // that very number means no limit (BA-35)
    return fail(ErrorKind::invalid, "found \"" + std::string(amount) + "\" for an amount of " + out.resource +
                                        ", which is more than can be counted; allowed: at most " + std::to_string(unlimited) +
                                        " units, cpu in thousandths");
  out.amount = *parsed;
  return out;
}

Result<void> check(const QuotaChange& change, const StateView& state) {
  const Catalog& catalog = *state.domain().catalog();
  const std::string kind = change.is_cohort ? "Cohort" : "ClusterQueue";
  const std::vector<ResourceGroup>* groups = nullptr;
  std::set<std::string> names;
  if (change.is_cohort) {
    for (const auto& [name, config] : catalog.cohorts) {
      names.emplace(name.text());
      if (name.text() == change.node) groups = &config->groups;
    }
  } else {
    for (const auto& [name, config] : catalog.queues) {
      names.emplace(name.text());
      if (name.text() == change.node) groups = &config->groups;
    }
  }
  if (groups == nullptr)
    return fail(ErrorKind::not_found, "there is no " + kind + " \"" + change.node + "\" at that moment; there are: " + listed(names));
  std::set<std::string> found, all;
  for (const auto& g : *groups)
    for (const auto& f : g.flavors)
      for (const Symbol& r : g.resources) {
        all.insert(std::string(f.flavor.text()) + "/" + std::string(r.text()));
        if (change.concerns(f.flavor.text(), r.text())) found.insert(std::string(f.flavor.text()) + "/" + std::string(r.text()));
      }
  if (found.empty())
    return fail(ErrorKind::not_found, kind + " " + change.node + " has no quota of " + (change.flavor.empty() ? "" : change.flavor + "/") +
                                          change.resource + "; it has: " + listed(all));
  if (found.size() > 1)
    return fail(ErrorKind::invalid, kind + " " + change.node + " has quota of " + change.resource +
                                        " in several flavors; allowed, one change for each: " + listed(found));
  return {};
}

Result<NodeChange> parse_node_change(std::string_view text) {
  const auto wrong = [&] {
    return fail(ErrorKind::invalid, "found \"" + std::string(text) + "\"; allowed: COUNTxNODE, as 4xnode-7, with at most " +
                                        std::to_string(NodeChange::count_max) + " nodes");
  };
  NodeChange out;
  const auto x = text.find('x');
  if (x == std::string_view::npos || x + 1 == text.size()) return wrong();
  const auto [end, error] = std::from_chars(text.data(), text.data() + x, out.count);
  if (error != std::errc() || end != text.data() + x || out.count == 0 || out.count > NodeChange::count_max) return wrong();
  out.like = text.substr(x + 1);
  return out;
}

Result<void> check(const std::vector<NodeChange>& changes, const std::vector<std::vector<std::byte>>& observations,
                   const StateView& state) {
  if (changes.empty()) return {};
  std::set<std::string> names;
  for (const auto& [name, node] : state.domain().nodes()) names.emplace(name.text());
  events::RecordReader reader;
  for (const auto& bytes : observations) {
    const auto read = reader.read(bytes);
    const auto* o = read ? std::get_if<Observation>(&(*read)->body) : nullptr;
    if (const auto* node = o == nullptr ? nullptr : std::get_if<NodeObserved>(o)) names.emplace(node->meta.name);
  }
  std::size_t together = 0;
  for (const NodeChange& c : changes) {
    together += c.count;
    if (names.contains(c.like)) continue;
    if (names.empty())
      return fail(ErrorKind::not_found,
                  "the log knows of no nodes at that moment, so \"" + c.like +
                      "\" is none; nodes are counted where a flavor names a topology; allowed without them: more quota "
                      "(--set clusterqueue/NAME:RESOURCE=+AMOUNT), or nodes with their Topology and flavor in manifests (-f)");
    return fail(ErrorKind::not_found, "there is no node \"" + c.like + "\" at that moment; there are: " + listed(names));
  }
  if (together > NodeChange::count_max)
    return fail(ErrorKind::invalid,
                "found " + std::to_string(together) + " more nodes together; allowed: at most " + std::to_string(NodeChange::count_max));
  return {};
}

NodeObserved new_node(const NodeConfig& like, Text name, Arena& arena) {
  NodeObserved out = projections::observed_as(like, name, arena);
  out.ready = true;
  out.unschedulable = out.silent = false;
  // What says of the other that nothing can run there just now.
  const auto passing = [](const hindsight::Taint& t) { return t.key.starts_with("node.kubernetes.io/"); };
  const auto kept = static_cast<std::size_t>(std::ranges::count_if(out.taints, [&](const auto& t) { return !passing(t); }));
  auto taints = arena.make<hindsight::Taint>(kept);
  std::size_t n = 0;
  for (const auto& t : out.taints)
    if (!passing(t)) taints[n++] = t;
  out.taints = taints;
  return out;
}

List<ResourceGroupFacts> changed(List<ResourceGroupFacts> groups, const std::vector<QuotaChange>& changes, bool is_cohort,
                                 std::string_view node, Arena& arena) {
  const auto concerned = [&](const QuotaChange& c) { return c.is_cohort == is_cohort && c.node == node; };
  if (std::ranges::none_of(changes, concerned)) return groups;
  auto out = arena.make<ResourceGroupFacts>(groups.size());
  for (std::size_t g = 0; g < out.size(); ++g) {
    auto flavors = arena.make<FlavorQuotasFacts>(groups[g].flavors.size());
    for (std::size_t f = 0; f < flavors.size(); ++f) {
      const auto& from = groups[g].flavors[f];
      auto quotas = arena.make<QuotaFacts>(from.resources.size());
      for (std::size_t r = 0; r < quotas.size(); ++r) {
        quotas[r] = from.resources[r];
        for (const QuotaChange& c : changes)
          if (concerned(c) && c.concerns(from.flavor, quotas[r].resource)) quotas[r].nominal = c.applied_to(quotas[r].nominal);
      }
      flavors[f] = {from.flavor, quotas};
    }
    out[g] = {groups[g].covered_resources, flavors};
  }
  return out;
}

}  // namespace hindsight::whatif
