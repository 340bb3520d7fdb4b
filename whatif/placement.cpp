#include "whatif/placement.hpp"

#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <variant>

#include "admission/domain/domain.hpp"
#include "events/record.hpp"
#include "vocabulary/printable.hpp"

namespace hindsight::whatif {
namespace {

using namespace admission;

/// Where objects are, by name, with those that changes bring.
class Places {
 public:
  using Domains = std::set<std::size_t>;

  explicit Places(std::span<const DomainState> domains) : domains_(domains) {
    for (std::size_t d = 0; d < domains.size(); ++d) {
      const Catalog& catalog = *domains[d].state->domain().catalog();
      for (const auto& [name, queue] : catalog.queues) add_queue(name.text(), queue->cohort.text(), d);
      for (const auto& [name, cohort] : catalog.cohorts) add_cohort(name.text(), cohort->parent.text(), d);
      for (const auto& [key, queue] : catalog.local_queues)
        local_queues_[std::string(key.first.text()) + "/" + std::string(key.second.text())].insert(d);
    }
  }

  [[nodiscard]] Domains queue(std::string_view name) const { return in(queues_, name); }
  [[nodiscard]] Domains cohort(std::string_view name) const { return in(cohorts_, name); }

  /// The domain of an object that changes bring; nothing: all.
  [[nodiscard]] Result<std::optional<std::size_t>> place(const Observation& o) {
    if (const auto* queue = std::get_if<ClusterQueueObserved>(&o)) {
      const auto d = one("ClusterQueue " + text(queue->meta.name), in(queues_, queue->meta.name), in(cohorts_, queue->cohort),
                         "Cohort " + text(queue->cohort));
      if (d) add_queue(queue->meta.name, queue->cohort, d->value());
      return d;
    }
    if (const auto* cohort = std::get_if<CohortObserved>(&o)) {
      const auto d = one("Cohort " + text(cohort->meta.name), in(cohorts_, cohort->meta.name), in(cohorts_, cohort->parent),
                         "Cohort " + text(cohort->parent));
      if (d) add_cohort(cohort->meta.name, cohort->parent, d->value());
      return d;
    }
    if (const auto* queue = std::get_if<LocalQueueObserved>(&o)) {
      const std::string key = text(queue->meta.namespace_) + "/" + text(queue->meta.name);
      const auto d = one("LocalQueue " + key, {}, in(queues_, queue->cluster_queue), "ClusterQueue " + text(queue->cluster_queue));
      if (d) local_queues_[key] = Domains{d->value()};
      return d;
    }
    if (const auto* job = std::get_if<JobObserved>(&o)) return place_by_queue(text(job->kind), job->meta, job->queue_name);
    if (const auto* workload = std::get_if<WorkloadObserved>(&o)) return place_by_queue("Workload", workload->meta, workload->queue_name);
    if (std::holds_alternative<PodObserved>(o)) return 0;
    return std::nullopt;
  }

  /// "a, b"
  [[nodiscard]] std::string names(const Domains& which) const {
    std::set<std::string> out;
    for (const std::size_t d : which) out.insert(domains_[d].name);
    return listed(out);
  }

  [[nodiscard]] tl::unexpected<Error> several(const std::string& what, const Domains& which) const {
    return fail(ErrorKind::invalid, what + " is in several domains, " + names(which) + "; allowed: one of them, with --domain");
  }

 private:
  using ByName = std::map<std::string, Domains, std::less<>>;

  static std::string text(std::string_view t) { return printable(t); }

  static Domains in(const ByName& table, std::string_view name) {
    const auto it = table.find(name);
    return it == table.end() ? Domains{} : it->second;
  }

  void add_queue(std::string_view name, std::string_view cohort, std::size_t d) {
    queues_[std::string(name)].insert(d);
    if (!cohort.empty()) cohorts_[std::string(cohort)].insert(d);
  }
  void add_cohort(std::string_view name, std::string_view parent, std::size_t d) {
    cohorts_[std::string(name)].insert(d);
    if (!parent.empty()) cohorts_[std::string(parent)].insert(d);
  }

  Result<std::optional<std::size_t>> place_by_queue(const std::string& kind, const ObjectMeta& meta, std::string_view queue_name) const {
    const std::string key = text(meta.namespace_) + "/" + text(queue_name);
    return one(kind + " " + text(meta.namespace_) + "/" + text(meta.name), {}, in(local_queues_, key), "LocalQueue " + key);
  }

  /// `own`: where it is already; `others`: where what it names is.
  Result<std::optional<std::size_t>> one(const std::string& what, const Domains& own, const Domains& others,
                                         const std::string& named) const {
    if (own.size() > 1) return several(what, own);
    if (others.size() > 1) return several(named + ", which " + what + " names,", others);
    if (!own.empty() && !others.empty() && own != others)
      return fail(ErrorKind::invalid,
                  what + " is in domain " + names(own) + ", and names " + named + ", which is in domain " + names(others) +
                      ": trees of two domains would become one, which is not played; allowed: one of domain " + names(own));
    if (!own.empty()) return *own.begin();
    return others.empty() ? std::size_t{0} : *others.begin();
  }

  std::span<const DomainState> domains_;
  ByName queues_, cohorts_, local_queues_;
};

Result<void> place_quotas(const Changes& all, std::span<const DomainState> domains, const Places& places, std::vector<Changes>& out) {
  for (const QuotaChange& q : all.quotas) {
    std::set<std::size_t> there;
    for (std::size_t d = 0; d < domains.size(); ++d) {
      const Catalog& catalog = *domains[d].state->domain().catalog();
      const bool has = q.is_cohort ? catalog.cohorts.contains(Symbol(q.node)) : catalog.queue(Symbol(q.node)) != nullptr;
      if (has) there.insert(d);
    }
    const std::string what = (q.is_cohort ? "Cohort " : "ClusterQueue ") + q.node;
    if (there.size() > 1) return places.several(what, there);
    if (there.empty()) {
      std::set<std::string> names;
      for (const auto& domain : domains) {
        const Catalog& catalog = *domain.state->domain().catalog();
        if (q.is_cohort)
          for (const auto& [name, config] : catalog.cohorts) names.emplace(name.text());
        else
          for (const auto& [name, config] : catalog.queues) names.emplace(name.text());
      }
      return fail(ErrorKind::not_found, "there is no " + what + " in any of the " + std::to_string(domains.size()) +
                                            " domains at that moment; there are: " + listed(names));
    }
    for (std::size_t d = 0; d < domains.size(); ++d) (there.contains(d) ? out[d].quotas : out[d].quotas_elsewhere).push_back(q);
  }
  return {};
}

Result<void> place_nodes(const Changes& all, std::span<const DomainState> domains, std::vector<Changes>& out) {
  for (const NodeChange& n : all.nodes) {
    bool any = false;
    std::optional<Error> missing;
    for (std::size_t d = 0; d < domains.size(); ++d) {
      const auto found = check({n}, out[d].observations, *domains[d].state);
      if (found) {
        out[d].nodes.push_back(n);
        any = true;
      } else if (!missing) {
        missing = found.error();
      }
    }
    if (!any && missing) return tl::unexpected(*missing);
  }
  return {};
}

}  // namespace

Result<std::vector<Changes>> placed(const Changes& changes, std::span<const DomainState> domains) {
  if (domains.size() == 1) return std::vector<Changes>{changes};
  std::vector<Changes> out(domains.size());
  if (domains.empty()) return out;
  for (Changes& c : out) {
    c.dropped = changes.dropped;
    c.current_rules = changes.current_rules;
  }
  Places places(domains);
  events::RecordReader reader;
  for (const auto& bytes : changes.observations) {
    const auto read = reader.read(bytes);
    const auto* o = read ? std::get_if<Observation>(&(*read)->body) : nullptr;
    if (o == nullptr) continue;
    const auto domain = places.place(*o);
    if (!domain) return tl::unexpected(domain.error());
    for (std::size_t d = 0; d < out.size(); ++d)
      if (!*domain || **domain == d) out[d].observations.push_back(bytes);
  }
  if (auto ok = place_quotas(changes, domains, places, out); !ok) return tl::unexpected(ok.error());
  if (auto ok = place_nodes(changes, domains, out); !ok) return tl::unexpected(ok.error());
  return out;
}

}  // namespace hindsight::whatif
