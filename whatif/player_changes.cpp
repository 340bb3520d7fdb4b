// What is otherwise from the moment on.

#include <algorithm>
#include <utility>
#include <variant>

#include "admission/domain/domain.hpp"
#include "admission/rules.hpp"
#include "admission/workload/workload_parent.hpp"
#include "projections/observed_again.hpp"
#include "whatif/object_key.hpp"
#include "whatif/player.hpp"

namespace hindsight::whatif {

using namespace admission;

namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

}  // namespace

void Player::make_changes() {
  if (changes_.current_rules) {
    // As if this build had taken the domain over at that moment.
    own_epochs_ = 1;
    append(EpochStarted{"what-if", "", rules_version}, past_.driver().domain().epoch(), 0);
  }
  drop();
  change_quotas();
  bring_objects();
  add_nodes();
}

void Player::drop() {
  const LoopDriver& driver = past_.driver();
  for (const auto& wanted : changes_.dropped) {
    std::vector<std::string> gone;
    for (std::uint32_t i = 0; i < driver.domain().parent_count(); ++i) {
      const auto* parent = driver.parent(i);
      if (parent == nullptr || parent->empty()) continue;
      if (const auto& job = parent->job()) {
        if (wanted == lower(job->kind.text()) + "/" + std::string(job->namespace_.text()) + "/" + job->name.text())
          gone.push_back(job->uid.text());
      } else {
        for (const auto& w : parent->workloads())
          if (wanted == "workload/" + std::string(w.namespace_.text()) + "/" + w.name.text()) gone.push_back(w.uid.text());
      }
    }
    for (const auto& uid : gone) {
      followed_[uid].dropped = true;
      world_->remove(uid);
    }
  }
}

void Player::change_quotas() {
  std::set<std::pair<bool, std::string>> nodes;
  for (const auto& q : changes_.quotas) nodes.emplace(q.is_cohort, q.node);
  for (const auto& [is_cohort, name] : nodes) {
    arena_.clear();
    const Catalog& catalog = *past_.driver().domain().catalog();
    if (is_cohort)
      tell(adapted(Observation{projections::observed_again(*catalog.cohorts.at(Symbol(name)), arena_)}));
    else
      tell(adapted(Observation{projections::observed_again(*catalog.queue(Symbol(name)), arena_)}));
  }
}

void Player::bring_objects() {
  events::RecordReader reader;
  for (const auto& bytes : changes_.observations) {
    const auto read = reader.read(bytes);
    const auto* o = read ? std::get_if<Observation>(&(*read)->body) : nullptr;
    if (o == nullptr) continue;
    if (const auto key = key_of(*o)) replaced_.insert(*key);
    const Observation copy = *o;
    tell(copy);
    const std::string subject = subject_of(copy);
    if (!subject.empty()) world_->take_over(subject, Time::never());
  }
}

void Player::add_nodes() {
  const auto& nodes = past_.driver().domain().nodes();
  for (const NodeChange& change : changes_.nodes) {
    const auto like = nodes.find(Symbol(change.like));
    if (like == nodes.end()) continue;  // looked for before anything was changed
    const auto config = like->second;   // stays, whatever comes
    std::size_t number = 0;
    for (std::size_t i = 0; i < change.count; ++i) {
      std::string name;
      do {
        name = change.like + "-more-" + std::to_string(++number);
      } while (nodes.contains(Symbol(name)));
      arena_.clear();
      tell(Observation{new_node(*config, arena_.copy(name), arena_)});
    }
  }
}

/// A configuration as recorded, but for the limits that are otherwise.
Observation Player::adapted(const Observation& o) {
  if (const auto* queue = std::get_if<ClusterQueueObserved>(&o)) {
    auto out = *queue;
    for (const auto* quotas : {&changes_.quotas, &changes_.quotas_elsewhere})
      out.resource_groups = changed(out.resource_groups, *quotas, false, out.meta.name, arena_);
    return Observation{out};
  }
  if (const auto* cohort = std::get_if<CohortObserved>(&o)) {
    auto out = *cohort;
    for (const auto* quotas : {&changes_.quotas, &changes_.quotas_elsewhere})
      out.resource_groups = changed(out.resource_groups, *quotas, true, out.meta.name, arena_);
    return Observation{out};
  }
  return o;
}

bool Player::is_dropped(const Observation& o) const {
  const auto names = [&](const std::string& name) { return std::ranges::find(changes_.dropped, name) != changes_.dropped.end(); };
  if (const auto* job = std::get_if<JobObserved>(&o)) return names(lower(job->kind) + "/" + full(job->meta));
  if (const auto* w = std::get_if<WorkloadObserved>(&o)) return names("workload/" + full(w->meta));
  return false;
}

}  // namespace hindsight::whatif
