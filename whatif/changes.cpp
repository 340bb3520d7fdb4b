#include "whatif/changes.hpp"

#include <algorithm>
#include <set>

#include "admission/domain/domain.hpp"

namespace hindsight::whatif {
namespace {

using namespace admission;

constexpr std::string_view form = "clusterqueue/NAME:[FLAVOR/]RESOURCE=AMOUNT, =+AMOUNT or =-AMOUNT, or the same of cohort/NAME";

tl::unexpected<Error> refused(std::string_view text) {
  return fail(ErrorKind::invalid, "found \"" + std::string(text) + "\"; allowed: " + std::string(form));
}

std::string joined(const std::set<std::string>& names) {
  std::string out;
  for (const auto& n : names) out += (out.empty() ? "" : ", ") + n;
  return out;
}

}  // namespace

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
    return fail(ErrorKind::not_found, "there is no " + kind + " \"" + change.node + "\" at that moment; there are: " + joined(names));
  std::set<std::string> found, all;
  for (const auto& g : *groups)
    for (const auto& f : g.flavors)
      for (const Symbol& r : g.resources) {
        all.insert(std::string(f.flavor.text()) + "/" + std::string(r.text()));
        if (change.concerns(f.flavor.text(), r.text())) found.insert(std::string(f.flavor.text()) + "/" + std::string(r.text()));
      }
  if (found.empty())
    return fail(ErrorKind::not_found, kind + " " + change.node + " has no quota of " + (change.flavor.empty() ? "" : change.flavor + "/") +
                                          change.resource + "; it has: " + joined(all));
  if (found.size() > 1)
    return fail(ErrorKind::invalid, kind + " " + change.node + " has quota of " + change.resource +
                                        " in several flavors; allowed, one change for each: " + joined(found));
  return {};
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
