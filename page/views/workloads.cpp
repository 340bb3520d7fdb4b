#include "page/views/workloads.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "admission/domain/domain.hpp"
#include "page/views/amounts.hpp"
#include "page/views/refs.hpp"
#include "page/views/sight.hpp"
#include "projections/phase.hpp"
#include "projections/queue_place.hpp"
#include "vocabulary/ascii.hpp"
#include "vocabulary/printable.hpp"
#include "vocabulary/text.hpp"

namespace hindsight::page {
namespace {

using admission::WorkloadState;
using projections::Phase;
using projections::WorkloadAt;

enum class SortBy { name, namespace_, created, priority, phase, queue, reason, since };

constexpr std::array<std::pair<std::string_view, SortBy>, 8> sorts{{{"name", SortBy::name},
                                                                    {"namespace", SortBy::namespace_},
                                                                    {"created", SortBy::created},
                                                                    {"priority", SortBy::priority},
                                                                    {"phase", SortBy::phase},
                                                                    {"queue", SortBy::queue},
                                                                    {"reason", SortBy::reason},
                                                                    {"since", SortBy::since}}};
constexpr std::array<Phase, 6> phases{Phase::pending, Phase::quota_reserved, Phase::admitted,
                                      Phase::evicted, Phase::finished,       Phase::inactive};
constexpr std::size_t parameter_bytes_max = 1'024;

struct TableRequest {
  std::set<Phase> phases;  ///< Empty: all.
  std::string queue, namespace_, text;
  SortBy sort = SortBy::name;
  bool descending = false;
  std::size_t limit = 0, offset = 0;
};

tl::unexpected<Error> not_allowed(std::string_view name, std::string_view found, std::string_view allowed) {
  return fail(ErrorKind::invalid,
              std::string(name) + ": found \"" + printable(cut_text(found, 80)) + "\"; allowed: " + std::string(allowed));
}

Result<std::set<Phase>> read_phases(std::string_view given) {
  std::set<Phase> out;
  while (!given.empty()) {
    const auto comma = std::min(given.find(','), given.size());
    const auto word = given.substr(0, comma);
    given.remove_prefix(std::min(comma + 1, given.size()));
    const auto it = std::find_if(phases.begin(), phases.end(), [&](Phase p) { return projections::name_of(p) == word; });
    if (it == phases.end())
      return not_allowed("phase", word, "Pending, QuotaReserved, Admitted, Evicted, Finished, Inactive, with commas between them");
    out.insert(*it);
  }
  return out;
}

Result<TableRequest> read_table_request(const Parameters& parameters) {
  constexpr std::uint64_t limit_max = 1'000, limit_default = 100, offset_max = 10'000'000;
  TableRequest out;
  for (const char* name : {"queue", "namespace", "text", "phase", "sort"})
    if (parameters.text(name).size() > parameter_bytes_max) return not_allowed(name, parameters.text(name), "at most 1024 bytes");
  auto wanted = read_phases(parameters.text("phase"));
  if (!wanted) return tl::unexpected(wanted.error());
  out.phases = std::move(*wanted);
  out.queue = parameters.text("queue");
  out.namespace_ = parameters.text("namespace");
  out.text = lower(parameters.text("text"));
  if (const auto sort = parameters.text("sort"); !sort.empty()) {
    const auto it = std::find_if(sorts.begin(), sorts.end(), [&](const auto& s) { return s.first == sort; });
    if (it == sorts.end()) return not_allowed("sort", sort, "name, namespace, created, priority, phase, queue, reason, since");
    out.sort = it->second;
  }
  const auto descending = parameters.flag("descending");
  if (!descending) return tl::unexpected(descending.error());
  out.descending = *descending;
  const auto limit = parameters.number("limit", limit_default, 1, limit_max), offset = parameters.number("offset", 0, 0, offset_max);
  if (!limit) return tl::unexpected(limit.error());
  if (!offset) return tl::unexpected(offset.error());
  out.limit = *limit;
  out.offset = *offset;
  return out;
}

/// Whether `part`, in small letters, stands in the text.
bool has_part(std::string_view text, std::string_view part) {
  return std::search(text.begin(), text.end(), part.begin(), part.end(), [](char a, char b) { return lower(a) == b; }) != text.end();
}

/// What rows are sorted by is found once for each, and rows themselves only for those of the page.
struct TableKey {
  WorkloadAt at;
  Symbol queue;  ///< ClusterQueue.
  std::int64_t number = 0;
  std::string_view text;
  std::string owned;  ///< Of a reason.

  [[nodiscard]] std::string_view words() const { return owned.empty() ? text : std::string_view(owned); }
};

class WorkloadTable {
 public:
  WorkloadTable(const admission::StateView& state, const Sight& sight, const TableRequest& request)
      : state_(state), catalog_(*state.domain().catalog()), sight_(sight), request_(request) {}

  void put(Json& out) {
    gather();
    const std::size_t from = std::min(request_.offset, keys_.size()), to = std::min(from + request_.limit, keys_.size());
    std::partial_sort(keys_.begin(), keys_.begin() + static_cast<std::ptrdiff_t>(to), keys_.end(),
                      [this](const TableKey& a, const TableKey& b) { return comes_before(a, b); });
    out["total"] = keys_.size();
    out["all"] = all_;
    out["hidden"] = hidden_;
    out["items"] = Json::array();
    for (std::size_t i = from; i < to; ++i) out["items"].push_back(row(keys_[i]));
  }

 private:
  void gather() {
    std::unordered_map<Symbol, bool> seen;
    for (std::uint32_t i = 0; i < state_.domain().parent_count(); ++i) {
      const auto* parent = state_.parent(i);
      if (parent == nullptr) continue;
      for (const auto& w : parent->workloads()) {
        const auto [it, fresh] = seen.try_emplace(w.namespace_, false);
        if (fresh) it->second = sight_.sees(w.namespace_.text());
        if (!it->second) {
          ++hidden_;
          continue;
        }
        ++all_;
        if (auto key = key_of({parent, &w})) keys_.push_back(std::move(*key));
      }
    }
  }

  [[nodiscard]] std::optional<TableKey> key_of(const WorkloadAt& at) const {
    const WorkloadState& w = *at.workload;
    if (!request_.namespace_.empty() && w.namespace_.text() != request_.namespace_) return std::nullopt;
    const Phase phase = projections::phase_of(w);
    if (!request_.phases.empty() && !request_.phases.contains(phase)) return std::nullopt;
    TableKey out{.at = at, .queue = w.admission ? w.admission->cluster_queue : projections::queue_of(state_, w)};
    if (!request_.queue.empty() && !is_of_queue(w, out.queue)) return std::nullopt;
    if (!request_.text.empty() && !has_text(at)) return std::nullopt;
    switch (request_.sort) {
      case SortBy::name:
      case SortBy::namespace_:
        break;
      case SortBy::created:
        out.number = w.created.micros;
        break;
      case SortBy::priority:
        out.number = w.effective_priority(catalog_.settings);
        break;
      case SortBy::phase:
        out.number = static_cast<std::int64_t>(phase);
        break;
      case SortBy::queue:
        out.text = out.queue.text();
        break;
      case SortBy::reason:
        out.owned = projections::reason_of(w);
        break;
      case SortBy::since:
        out.number = projections::phase_since(w).micros;
        break;
    }
    return out;
  }

  [[nodiscard]] bool is_of_queue(const WorkloadState& w, const Symbol& cluster_queue) const {
    if (cluster_queue.text() == request_.queue) return true;
    const auto slash = request_.queue.find('/');
    if (slash == std::string::npos) return false;
    const std::string_view queue = request_.queue;
    return w.namespace_.text() == queue.substr(0, slash) && w.queue_name.text() == queue.substr(slash + 1);
  }

  [[nodiscard]] bool has_text(const WorkloadAt& at) const {
    const WorkloadState& w = *at.workload;
    if (has_part(w.name, request_.text) || has_part(w.namespace_.text(), request_.text)) return true;
    if (const auto& job = at.parent->job(); job && has_part(job->name, request_.text)) return true;
    return request_.text.find('/') != std::string::npos && has_part(std::string(w.namespace_.text()) + "/" + w.name, request_.text);
  }

  [[nodiscard]] bool comes_before(const TableKey& a, const TableKey& b) const {
    const auto names = [](const TableKey& k) { return std::pair(k.at.workload->namespace_.text(), std::string_view(k.at.workload->name)); };
    const auto turned = [](const std::pair<std::string_view, std::string_view>& p) { return std::pair(p.second, p.first); };
    const auto order = [&](const auto& x, const auto& y) { return request_.descending ? y < x : x < y; };
    switch (request_.sort) {
      case SortBy::name:
        return order(turned(names(a)), turned(names(b)));
      case SortBy::namespace_:
        return order(names(a), names(b));
      case SortBy::queue:
      case SortBy::reason:
        return a.words() != b.words() ? order(a.words(), b.words()) : names(a) < names(b);
      case SortBy::created:
      case SortBy::priority:
      case SortBy::phase:
      case SortBy::since:
        return a.number != b.number ? order(a.number, b.number) : names(a) < names(b);
    }
    return false;
  }

  [[nodiscard]] Json row(const TableKey& key) const {
    const WorkloadState& w = *key.at.workload;
    Json out{{"namespace", w.namespace_.text()}, {"name", w.name}};
    put_job_ref(out, *key.at.parent);
    out["queue"] = w.queue_name.text();
    out["clusterQueue"] = key.queue.text();
    out["phase"] = projections::name_of(projections::phase_of(w));
    out["reason"] = projections::reason_of(w);
    out["priority"] = w.effective_priority(catalog_.settings);
    put_time(out, "created", w.created);
    put_time(out, "since", projections::phase_since(w));
    ResourceSums asks;
    for (const auto& pod_set : *w.pod_sets)
      for (const auto& request : pod_set.requests) asks.add(request.resource, multiply(request.amount, pod_set.count));
    out["asks"] = asks.json();
    return out;
  }

  const admission::StateView& state_;
  const admission::Catalog& catalog_;
  const Sight& sight_;
  const TableRequest& request_;
  std::vector<TableKey> keys_;
  std::size_t all_ = 0, hidden_ = 0;
};

}  // namespace

Result<Json> workloads_view(const Look& look, const Parameters& parameters) {
  const auto request = read_table_request(parameters);
  if (!request) return tl::unexpected(request.error());
  const Sight sight(look.past.driver(), look.audience);
  Json out = taken_at(look);
  WorkloadTable(look.past.driver(), sight, *request).put(out);
  return out;
}

}  // namespace hindsight::page
