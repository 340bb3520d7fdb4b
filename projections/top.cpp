#include "projections/top.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>
#include <unordered_map>

#include "admission/domain/domain.hpp"
#include "admission/queue/cluster_queue.hpp"
#include "projections/format.hpp"
#include "projections/quota_report.hpp"

namespace hindsight::projections {
namespace {

using admission::Catalog;

/// Who waits for quota somewhere.
struct Crowd {
  std::size_t workloads = 0;
  Time since;
  std::map<std::size_t, std::size_t> reasons;  ///< How many for each.

  void add(const Waiter& x) {
    ++workloads;
    ++reasons[x.reason];
    earlier(x.since);
  }
  void add(const Crowd& other) {
    workloads += other.workloads;
    for (const auto& [reason, n] : other.reasons) reasons[reason] += n;
    earlier(other.since);
  }

 private:
  void earlier(Time t) {
    if (t.is_set() && (!since.is_set() || t < since)) since = t;
  }
};

/// All who wait for quota, by where.
struct Crowds {
  std::unordered_map<Symbol, Crowd> queues;
  std::map<std::pair<std::string_view, std::string_view>, Crowd> local_queues;
  std::map<std::string, Crowd, std::less<>> flavors;

  explicit Crowds(const Waiters& waiters) {
    for (const auto& x : waiters.all) {
      if (x.phase != Phase::pending) continue;
      queues[x.queue].add(x);
      local_queues[{x.at.workload->namespace_.text(), x.at.workload->queue_name.text()}].add(x);
      const auto& lacks = waiters.reasons[x.reason].lacks;
      for (auto pair = lacks.begin(); pair != lacks.end(); ++pair) {
        const bool known = std::any_of(lacks.begin(), pair, [&](const auto& earlier) { return earlier.first == pair->first; });
        if (!known) flavors[pair->first].add(x);
      }
    }
  }
  [[nodiscard]] Crowd of_queue(const Symbol& name) const {
    const auto it = queues.find(name);
    return it == queues.end() ? Crowd() : it->second;
  }
};

void put_crowd(TopRow& row, const Crowd& crowd, const Waiters& waiters) {
  row.pending = crowd.workloads;
  row.waits_since = crowd.since;
  for (const auto& [reason, n] : crowd.reasons) {
    const WaitReason& candidate = waiters.reasons[reason];
    if (row.mostly && std::pair(row.mostly->workloads, text_of(candidate)) >= std::pair(n, text_of(row.mostly->reason))) continue;
    row.mostly = TopRow::Mostly{candidate, n};
  }
}

void put_counts(TopRow& row, const Waits::Counts& counts) {
  row.waits = figures_of(counts.waits);
  row.admitted = counts.admitted;
  row.finished = counts.finished;
  row.evicted = counts.evicted;
  row.preempted = counts.preempted;
}

/// The ClusterQueues in a cohort and in all cohorts below it, by name.
std::vector<Symbol> queues_below(const Catalog& catalog, const Symbol& cohort) {
  const auto below = catalog.below(cohort);
  std::vector<Symbol> out;
  for (const auto& [name, config] : catalog.queues)
    if (std::find(below.begin(), below.end(), config->cohort) != below.end()) out.push_back(name);
  return out;
}

TopQuota top_quota(const SubtreeQuota& line) { return {line.flavor, line.resource, line.used, line.nominal, line.borrowed}; }

/// Adds what is used of a pair to the line of that pair, which is made if there is none.
TopQuota& line_for(std::vector<TopQuota>& lines, const Symbol& flavor, const Symbol& resource) {
  for (auto& line : lines)
    if (line.flavor == flavor && line.resource == resource) return line;
  lines.push_back({flavor, resource, 0, 0, 0});
  return lines.back();
}

/// Makes the rows of a kind. Of a span: what happened in it, and averages.
class Listing {
 public:
  Listing(const StateView& state, Top& top, const Waits* waits, const UsageOverTime* usage)
      : state_(state), catalog_(*state.domain().catalog()), top_(top), crowds_(top.waiters), waits_(waits), usage_(usage) {}

  void list() {
    switch (top_.kind) {
      case TopKind::cluster_queues:
        return cluster_queues();
      case TopKind::cohorts:
        return cohorts();
      case TopKind::local_queues:
        return local_queues();
      case TopKind::flavors:
        return flavors();
    }
  }

 private:
  TopRow& row(std::string name, std::string group, const Crowd& crowd, const Waits::Counts& counts) {
    TopRow& out = top_.rows.emplace_back();
    out.name = std::move(name);
    out.group = std::move(group);
    put_crowd(out, crowd, top_.waiters);
    put_counts(out, counts);
    return out;
  }

  const Waits::Counts& of_queue(const Symbol& name) const { return waits_ == nullptr ? none_ : waits_->of_queue(name); }

  /// On average, in these queues.
  void put_average(TopRow& out, const std::vector<Symbol>& queues, const Symbol& local = {}) const {
    if (usage_ == nullptr) return;
    for (auto& line : out.quota) {
      WideAmount sum = 0;
      for (const auto& queue : queues) sum += usage_->integral(queue, local, line.flavor, line.resource);
      line.used = usage_->average(sum);
    }
  }

  void cluster_queues() {
    for (const auto& [name, config] : catalog_.queues) {
      TopRow& out = row(text(name), text(config->cohort), crowds_.of_queue(name), of_queue(name));
      for (const auto& line : subtree_of_queue(state_, name)) out.quota.push_back(top_quota(line));
      put_average(out, {name});
    }
  }

  void cohorts() {
    for (const Symbol& name : all_cohorts(state_)) {
      const auto members = queues_below(catalog_, name);
      Crowd crowd;
      Waits::Counts counts;
      for (const auto& queue : members) {
        crowd.add(crowds_.of_queue(queue));
        counts.add(of_queue(queue));
      }
      const auto config = catalog_.cohorts.find(name);
      TopRow& out = row(text(name), config == catalog_.cohorts.end() ? std::string() : text(config->second->parent), crowd, counts);
      for (const auto& line : subtree_of_cohort(state_, name)) out.quota.push_back(top_quota(line));
      put_average(out, members);
    }
  }

  void local_queues() {
    for (const auto& [key, config] : catalog_.local_queues) {
      const auto& [namespace_, name] = key;
      const auto crowd = crowds_.local_queues.find({namespace_.text(), name.text()});
      TopRow& out = row(full_name(namespace_.text(), name.text()), text(config.cluster_queue),
                        crowd == crowds_.local_queues.end() ? Crowd() : crowd->second,
                        waits_ == nullptr ? none_ : waits_->of_local_queue(namespace_, name));
      for (const auto& line : subtree_of_queue(state_, config.cluster_queue))
        out.quota.push_back({line.flavor, line.resource, 0, line.nominal, 0});
      if (const auto* queue = state_.queue(config.cluster_queue); queue != nullptr && usage_ == nullptr)
        for (const auto& cell : queue->local_counters(namespace_, name).cells)
          line_for(out.quota, cell.flavor, cell.resource).used = cell.reserved;
      put_average(out, {namespace_}, name);
    }
  }

  void flavors() {
    std::vector<Symbol> queues;
    for (const auto& [name, config] : catalog_.queues) queues.push_back(name);
    std::map<Symbol, std::vector<TopQuota>, ByText> lines;
    for (const auto& [name, config] : catalog_.flavors) lines[name];
    for (const auto& name : queues)
      for (const auto& q : subtree_of_queue(state_, name)) {
        TopQuota& line = line_for(lines[q.flavor], q.flavor, q.resource);
        line.used = add(line.used, q.used);
        line.nominal = add(line.nominal, q.nominal);
        line.borrowed = add(line.borrowed, q.borrowed);
      }
    for (const auto& [name, config] : catalog_.cohorts)
      for (const auto& g : config->groups)
        for (const auto& f : g.flavors)
          for (std::size_t i = 0; i < g.resources.size() && i < f.quotas.size(); ++i) {
            TopQuota& line = line_for(lines[f.flavor], f.flavor, g.resources[i]);
            line.nominal = add(line.nominal, f.quotas[i].nominal);
          }
    for (auto& [name, quota] : lines) {
      const auto crowd = crowds_.flavors.find(name.text());
      TopRow& out = row(text(name), {}, crowd == crowds_.flavors.end() ? Crowd() : crowd->second,
                        waits_ == nullptr ? none_ : waits_->of_flavor(name));
      out.quota = std::move(quota);
      put_average(out, queues);
    }
  }

  const StateView& state_;
  const Catalog& catalog_;
  Top& top_;
  Crowds crowds_;
  const Waits* waits_;
  const UsageOverTime* usage_;
  Waits::Counts none_;
};

/// What is most used counts; quota that is none and used all the same more than any.
std::int64_t largest_use(const TopRow& row) {
  std::int64_t out = 0;
  for (const auto& quota : row.quota) {
    const auto use = use_in_thousandths(quota);
    out = std::max(out, use ? *use : quota.nominal == 0 && quota.used > 0 ? std::numeric_limits<std::int64_t>::max() : 0);
  }
  return out;
}

void sort(Top& top, TopOrder order) {
  const auto key = [&](const TopRow& row) -> std::int64_t {
    switch (order) {
      case TopOrder::use:
        return largest_use(row);
      case TopOrder::wait:
        if (top.span) return row.waits.p95;
        return row.waits_since.is_set() ? (top.now - row.waits_since).micros + 1 : 0;
      case TopOrder::pending:
        return static_cast<std::int64_t>(row.pending);
      case TopOrder::name:
        return 0;
    }
    return 0;
  };
  std::sort(top.rows.begin(), top.rows.end(), [&](const TopRow& a, const TopRow& b) {
    const auto x = key(a), y = key(b);
    return x != y ? x > y : a.name < b.name;
  });
}

std::string_view group_heading(TopKind kind) {
  switch (kind) {
    case TopKind::cluster_queues:
      return "COHORT";
    case TopKind::cohorts:
      return "PARENT";
    case TopKind::local_queues:
      return "CLUSTERQUEUE";
    case TopKind::flavors:
      return {};
  }
  return {};
}

std::string_view group_field(TopKind kind) {
  switch (kind) {
    case TopKind::cluster_queues:
      return "cohort";
    case TopKind::cohorts:
      return "parent";
    case TopKind::local_queues:
      return "clusterQueue";
    case TopKind::flavors:
      return {};
  }
  return {};
}

std::string_view kind_text(TopKind kind) {
  switch (kind) {
    case TopKind::cluster_queues:
      return "clusterqueues";
    case TopKind::cohorts:
      return "cohorts";
    case TopKind::local_queues:
      return "localqueues";
    case TopKind::flavors:
      return "flavors";
  }
  return {};
}

/// An average is seldom a round number of bytes: above a gibibyte it is shown in mebibytes.
std::string average_text(Amount amount, const Symbol& resource) {
  constexpr Amount mebi = Amount{1} << 20, gibi = Amount{1} << 30;
  const bool bytes = format_amount(1024, resource.text()) == "1Ki";
  if (!bytes || amount < gibi || amount == unlimited) return amount_text(amount, resource);
  return amount_text((amount / mebi + (amount % mebi >= mebi / 2 ? 1 : 0)) * mebi, resource);
}

Cell use_cell(const TopQuota& quota) {
  const auto use = use_in_thousandths(quota);
  if (!use) return "-";
  return {std::to_string(*use / 10) + "%", *use >= 1'000 ? Tone::bad : *use >= 800 ? Tone::waiting : Tone::plain};
}

/// A row has a line for each flavor and resource; what is said of the whole stands in the first one.
class Sheet {
 public:
  explicit Sheet(const Top& top) : top_(top) {
    const bool span = top.span.has_value();
    table.columns.push_back({"NAME"});
    if (has_group()) table.columns.push_back({std::string(group_heading(top.kind))});
    table.columns.push_back({"QUOTA"});
    table.columns.push_back({span ? "AVERAGE" : "USED", false, true});
    table.columns.push_back({"NOMINAL", false, true});
    table.columns.push_back({"USE", false, true});
    if (has_borrowed()) table.columns.push_back({"BORROWED", false, true});
    if (span)
      for (const char* heading : {"ADMITTED", "FINISHED", "EVICTED", "PREEMPTED", "WAIT P50", "P95", "MAX"})
        table.columns.push_back({heading, false, true});
    table.columns.push_back({"PENDING", false, true});
    table.columns.push_back({"LONGEST WAIT"});
    table.columns.push_back({"MOST WAIT FOR"});
    for (const auto& row : top.rows) add(row);
  }

  Table table;

 private:
  [[nodiscard]] bool has_group() const { return top_.kind != TopKind::flavors; }
  [[nodiscard]] bool has_borrowed() const { return !top_.span && top_.kind != TopKind::local_queues; }

  void add(const TopRow& row) {
    for (std::size_t i = 0; i == 0 || i < row.quota.size(); ++i) {
      auto& cells = table.rows.emplace_back();
      const bool first = i == 0;
      const auto put = [&](const std::string& cell) { cells.emplace_back(first ? cell : std::string()); };
      put(row.name);
      if (has_group()) put(row.group);
      if (i < row.quota.size()) {
        const TopQuota& q = row.quota[i];
        cells.emplace_back(text(q.flavor) + "/" + text(q.resource));
        cells.emplace_back(top_.span ? average_text(q.used, q.resource) : amount_text(q.used, q.resource));
        cells.emplace_back(amount_text(q.nominal, q.resource));
        cells.push_back(use_cell(q));
        if (has_borrowed()) cells.emplace_back(amount_text(q.borrowed, q.resource));
      } else {
        for (int n = has_borrowed() ? 5 : 4; n > 0; --n) cells.emplace_back("");
      }
      if (top_.span) {
        for (const std::size_t n : {row.admitted, row.finished, row.evicted, row.preempted}) put(std::to_string(n));
        for (const std::int64_t wait : {row.waits.p50, row.waits.p95, row.waits.longest})
          put(row.waits.waits == 0 ? std::string("-") : wait_text(wait));
      }
      put(std::to_string(row.pending));
      put(row.waits_since.is_set() ? age(row.waits_since, top_.now) : std::string());
      put(row.mostly ? text_of(row.mostly->reason) : std::string());
    }
  }

  const Top& top_;
};

bool everybody(const Waiter&) { return true; }

void write_reasons(const Waiters& waiters, Time now, bool by_queue, std::size_t most, bool colour, std::string& out) {
  const auto counts = count_reasons(waiters, everybody, by_queue);
  if (counts.empty()) {
    out += "Nobody waits.\n";
    return;
  }
  out += "Waiting: " + counted_by_phase(waiters, everybody) + "\n";
  out += render(reasons_table(waiters, counts, now, by_queue, most), {.colour = colour});
  if (const auto rest = reasons_left_out(counts, most); !rest.empty()) out += rest + " (--reasons lists them all)\n";
}

}  // namespace

std::optional<std::int64_t> use_in_thousandths(const TopQuota& quota) {
  if (quota.nominal <= 0 || quota.nominal == unlimited) return std::nullopt;
  const WideAmount out = WideAmount{quota.used} * 1'000 / quota.nominal;
  return out > std::numeric_limits<std::int64_t>::max() ? std::numeric_limits<std::int64_t>::max() : static_cast<std::int64_t>(out);
}

Top top_of(const StateView& state, TopKind kind, TopOrder order) {
  Top out{kind, state.now(), std::nullopt, {}, waiters_of(state)};
  Listing(state, out, nullptr, nullptr).list();
  sort(out, order);
  return out;
}

TopOverTime::TopOverTime(TopKind kind, const StateView& state)
    : kind_(kind), usage_(kind == TopKind::local_queues ? UsageOverTime::Of::local_queues : UsageOverTime::Of::cluster_queues, state) {}

void TopOverTime::before(const RecordView& record, const StateView& state) {
  waits_.before(record, state);
  usage_.before(record, state);
}

void TopOverTime::after(const RecordView& record, const StateView& state) {
  waits_.after(record, state);
  usage_.after(record, state);
}

Top TopOverTime::finish(const StateView& state, TopOrder order) {
  usage_.end(state.now(), state);
  Top out{kind_, state.now(), usage_.span(), {}, waiters_of(state)};
  Listing(state, out, &waits_, &usage_).list();
  sort(out, order);
  return out;
}

std::string to_text(const Top& top, bool colour, std::size_t reasons_max) {
  std::string out =
      top.rows.empty() ? "There are no " + std::string(kind_text(top.kind)) + ".\n" : render(Sheet(top).table, {.colour = colour});
  out += "\n";
  write_reasons(top.waiters, top.now, false, reasons_max, colour, out);
  return out;
}

Json to_json(const Top& top) {
  Json out{{"kind", kind_text(top.kind)}};
  if (top.span) out["spanMilliseconds"] = top.span->micros / 1'000;
  out["items"] = Json::array();
  for (const auto& row : top.rows) {
    Json one{{"name", row.name}};
    if (top.kind != TopKind::flavors) one[std::string(group_field(top.kind))] = row.group;
    one["quota"] = Json::array();
    for (const auto& q : row.quota) {
      Json line{{"flavor", q.flavor.text()}, {"resource", q.resource.text()}};
      line[top.span ? "averageUsed" : "used"] = amount_text(q.used, q.resource);
      line["nominal"] = amount_text(q.nominal, q.resource);
      if (const auto use = use_in_thousandths(q)) line["usePerMille"] = *use;
      if (!top.span && top.kind != TopKind::local_queues) line["borrowed"] = amount_text(q.borrowed, q.resource);
      one["quota"].push_back(std::move(line));
    }
    if (top.span) {
      one["admitted"] = row.admitted;
      one["finished"] = row.finished;
      one["evicted"] = row.evicted;
      one["preempted"] = row.preempted;
      one["waitMilliseconds"] = to_json(row.waits);
    }
    one["pending"] = row.pending;
    if (row.waits_since.is_set()) one["longestWaitMilliseconds"] = (top.now - row.waits_since).micros / 1'000;
    if (row.mostly) {
      one["mostWaitFor"] = {{"reason", row.mostly->reason.reason}};
      if (!row.mostly->reason.detail.empty()) one["mostWaitFor"]["detail"] = row.mostly->reason.detail;
      one["mostWaitFor"]["workloads"] = row.mostly->workloads;
    }
    out["items"].push_back(std::move(one));
  }
  out["waiting"] = waiting_json(top.waiters, everybody);
  out["waiting"]["reasons"] = reasons_json(top.waiters, count_reasons(top.waiters, everybody), top.now, false);
  return out;
}

std::string reasons_text(const Waiters& waiters, Time now, bool colour) {
  std::string out;
  write_reasons(waiters, now, true, std::numeric_limits<std::size_t>::max(), colour, out);
  return out;
}

Json reasons_document(const Waiters& waiters, Time now) {
  Json out = waiting_json(waiters, everybody);
  out["reasons"] = reasons_json(waiters, count_reasons(waiters, everybody, true), now, true);
  return out;
}

}  // namespace hindsight::projections
