// A Workload as the scheduler sees it: what it asks for, and what it holds.
#include <algorithm>

#include "admission/model/workload_state.hpp"

namespace hindsight::admission {

namespace {

/// Exclusion and transformation of resource names (BA-44).
std::vector<ResourceRequest> adjusted(const std::vector<ResourceRequest>& requests, const Settings& settings) {
  if (settings.exclude_resource_prefixes.empty() && settings.transformations.empty()) return requests;
  std::vector<ResourceRequest> kept;
  for (const auto& r : requests) {
    const bool excluded = std::any_of(settings.exclude_resource_prefixes.begin(), settings.exclude_resource_prefixes.end(),
                                      [&](const std::string& p) { return r.resource.text().starts_with(p); });
    if (!excluded) kept.push_back(r);
  }
  std::vector<ResourceRequest> out;
  const auto add_to = [&](const Symbol& resource, Amount amount) {
    for (auto& o : out)
      if (o.resource == resource) {
        o.amount = add(o.amount, amount);
        return;
      }
    out.push_back({resource, amount});
  };
  for (const auto& r : kept) {
    const Settings::Transformation* t = nullptr;
    for (const auto& x : settings.transformations)
      if (r.resource.text() == x.input) t = &x;
    if (t == nullptr || !t->replace) add_to(r.resource, r.amount);
    if (t == nullptr) continue;
    Amount factor = 1;
    if (!t->multiply_by.empty()) {
      factor = 0;
      for (const auto& k : kept)
        if (k.resource.text() == t->multiply_by) factor = k.amount;
    }
    for (const auto& [name, nano] : t->outputs_nano) {
      // milli-units of cpu on either side: scale so that the product is in the output's own unit
      const bool in_milli = t->input == "cpu";
      const bool out_milli = name == "cpu";
      WideAmount v = static_cast<WideAmount>(r.amount) * nano;  // 126 bits at most
      const bool beyond = __builtin_mul_overflow(v, static_cast<WideAmount>(factor), &v) ||
                          (out_milli && __builtin_mul_overflow(v, static_cast<WideAmount>(1000), &v));
      if (beyond) v = (nano < 0) != (factor < 0) ? 0 : static_cast<WideAmount>(unlimited) * 1'000'000'000 * 1'000'000;
      WideAmount divisor = static_cast<WideAmount>(1'000'000'000) * (in_milli ? 1000 : 1);
      if (t->multiply_by == "cpu") divisor *= 1000;
      WideAmount q = v / divisor;
      if (v > 0 && v % divisor != 0) ++q;
      if (q > unlimited) q = unlimited;
      add_to(Symbol(name), static_cast<Amount>(q < 0 ? 0 : q));
    }
  }
  for (auto& o : out) o.amount = std::max<Amount>(0, o.amount);
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return ByText{}(a.resource, b.resource); });
  return out;
}

void add_request(StateHash& h, const TopologyRequest& request) {
  const auto add_level = [&](const std::optional<std::string>& level) {
    h.add(level.has_value());
    h.add(std::string_view(level ? *level : std::string()));
  };
  add_level(request.required);
  add_level(request.preferred);
  h.add(request.unconstrained);
  for (const auto& layer : request.slices) {
    h.add(std::string_view(layer.level));
    h.add(layer.size.value_or(0));
  }
}

std::uint64_t equivalence_hash(const WorkloadInfo& info, const WorkloadState& w) {
  StateHash h;
  h.add(static_cast<std::uint64_t>(info.pod_sets.size()));
  for (std::size_t i = 0; i < info.pod_sets.size(); ++i) {
    const auto& p = info.pod_sets[i];
    h.add(p.name);
    h.add(w.pod_sets[i].shape_hash);
    h.add(p.count);
    h.add(p.min_count);
    h.add(static_cast<std::uint64_t>(p.requests.size()));
    for (const auto& r : p.requests) {
      h.add(r.resource);
      h.add(r.amount);
    }
    if (p.topology) add_request(h, *p.topology);
  }
  h.add(info.priority);
  if (info.allowed != nullptr)  // CA-37
    for (const Symbol& flavor : *info.allowed) h.add(flavor);
  const std::uint64_t v = h.value();
  return v == 0 ? 1 : v;
}

/// What alike Workloads agree in and others rarely do; the rest is compared.
void add_amounts(StateHash& h, const std::vector<ResourceRequest>& requests) {
  for (const auto& r : requests) h.add(r.amount);
}

}  // namespace

std::uint64_t interning_hash(const PodShape& shape) {
  StateHash h;
  for (const auto& [key, value] : shape.node_selector) h.add(std::string_view(value));
  const auto add_term = [&](const OwnedTerm& term) {
    for (const auto* list : {&term.requirements, &term.fields})
      for (const auto& r : *list)
        for (const auto& value : r.values) h.add(std::string_view(value));
  };
  for (const auto& term : shape.affinity_terms) add_term(term);
  for (const auto& preferred : shape.preferred) h.add(preferred.weight), add_term(preferred.term);
  for (const auto& t : shape.tolerations) h.add(std::string_view(t.key)), h.add(std::string_view(t.value));
  return h.value();
}

std::uint64_t interning_hash(const std::vector<PodSetSpec>& pod_sets) {
  StateHash h;
  for (const auto& p : pod_sets) {
    h.add(p.count);
    h.add(p.template_hash);
    h.add(p.core_hash);
    add_amounts(h, p.requests);
  }
  return h.value();
}

std::uint64_t interning_hash(const TopologyAssignment& assignment) {
  StateHash h;
  for (const std::int32_t n : assignment.counts) h.add(n);
  if (!assignment.values.empty()) {
    h.add(assignment.values.front());
    h.add(assignment.values.back());
  }
  return h.value();
}

std::uint64_t interning_hash(const std::vector<PodSetInfo>& pod_sets) {
  StateHash h;
  for (const auto& p : pod_sets) {
    h.add(p.name);
    h.add(p.count);
    h.add(interning_hash(*p.shape));
    add_amounts(h, p.requests);
  }
  return h.value();
}

namespace {

/// Findings in the form of an aggregated Kubernetes error: several stand in brackets.
std::string aggregate(const std::vector<PodSetSpec>& pod_sets, const CompactText PodSetSpec::*findings) {
  constexpr std::string_view mark = ": Invalid value: ";  // once in each finding
  std::string out;
  for (const auto& p : pod_sets)
    if (!(p.*findings).empty()) out.append(out.empty() ? "" : ", ").append((p.*findings).view());
  const auto first = out.find(mark);
  const bool several = first != std::string::npos && out.find(mark, first + mark.size()) != std::string::npos;
  return several ? '[' + out + ']' : out;
}

/// base-admission §4 step 3: limits of the templates first, then LimitRanges.
std::string limits_message(const std::vector<PodSetSpec>& pod_sets) {
  if (auto own = aggregate(pod_sets, &PodSetSpec::limits_error); !own.empty()) return "resources validation failed: " + own;
  if (auto range = aggregate(pod_sets, &PodSetSpec::limit_range_error); !range.empty())
    return "resources didn't satisfy LimitRange constraints: " + range;
  return {};
}

/// May its containers be sized when it is admitted? Counts that may be lowered, or change while the job runs, exclude that (5440 MR-75).
bool is_sizable(const WorkloadState& w, const Settings& settings) {
  if (!settings.adjust_resources || w.resource_policy == ResourcePolicy::none || w.sizing_barred || w.elastic) return false;
  const auto partial = [](const PodSetSpec& p) { return p.min_count >= 0; };
  const auto bounded = [](const PodSetSpec& p) { return !p.sized.empty(); };
  return std::none_of(w.pod_sets.begin(), w.pod_sets.end(), partial) && std::any_of(w.pod_sets.begin(), w.pod_sets.end(), bounded);
}

std::shared_ptr<const SizingInfo> sizing_of(const WorkloadState& w, bool covers_pods) {
  auto out = std::make_shared<SizingInfo>();
  out->policy = w.resource_policy;
  for (const auto& p : w.pod_sets) out->pod_sets.push_back({p.requests, p.sized, covers_pods});
  return out;
}

/// Does the workload ask for no more than the slice that it is to replace has, pod set by pod set?
bool asks_nothing(const WorkloadInfo& info, const WorkloadState& replaced) {
  const auto has = effective_usage(replaced);
  return std::all_of(info.pod_sets.begin(), info.pod_sets.end(), [&](const PodSetInfo& p) {
    const auto old = std::find_if(has.begin(), has.end(), [&](const PodSetReservation& r) { return r.pod_set == p.name; });
    return std::all_of(p.requests.begin(), p.requests.end(), [&](const ResourceRequest& r) {
      Amount held = 0;
      if (old != has.end())
        for (const auto& [resource, amount] : old->usage)
          if (resource == r.resource) held = amount;
      return multiply(r.amount, p.count) <= held;
    });
  });
}

}  // namespace

namespace {

/// Whether it waits out a back-off, and until when one lasts that has an end. That of a family stands on its Parent (CA-55).
std::pair<bool, Time> back_off(const WorkloadState& w, const OptionPlace* place) {
  bool closed = false;
  Time until = place == nullptr ? Time::never() : place->not_before;
  for (const WorkloadState* one : {&w, place == nullptr ? &w : place->parent}) {
    if (const auto* r = one->find(ConditionType::requeued)) closed = closed || r->is_false();
    if (one->has_requeue_state && (!until.is_set() || until < one->requeue_at)) until = one->requeue_at;
  }
  return {closed, until};
}

}  // namespace

bool is_told(const WorkloadInfo& told, const WorkloadState& w, const Catalog& catalog, const OptionPlace& place) {
  const WorkloadState& spec = *place.parent;
  return told.option != nullptr && *told.option == place.info && (told.allowed == place.allowed || *told.allowed == *place.allowed) &&
         told.local_queue == spec.queue_name && told.priority == spec.effective_priority(catalog.settings) &&
         told.queue_time == spec.queue_time(catalog.settings) && std::pair(told.requeued_false, told.requeue_at) == back_off(w, &place);
}

std::vector<ResourceRequest> countable_requests(const std::vector<ResourceRequest>& requests, const Settings& settings, bool covers_pods) {
  static const Symbol pods("pods");
  auto out = adjusted(requests, settings);
  if (covers_pods) {
    out.push_back({pods, 1});
    std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return ByText{}(a.resource, b.resource); });
  }
  return out;
}

Interned<PodShape> shape_with_updates(const WorkloadState& w, const PodSetSpec& pod_set) {
  const auto concerns = [&](const CheckStatus& k, const PodSetUpdate& u) {
    return k.state == CheckState::ready && u.pod_set == pod_set.name;
  };
  if (std::none_of(w.checks.begin(), w.checks.end(), [&](const CheckStatus& k) {
        return std::any_of(k.updates.begin(), k.updates.end(), [&](const PodSetUpdate& u) { return concerns(k, u); });
      }))
    return pod_set.shape;
  PodShape out = pod_set.shape.value();
  const auto by_text = [](const auto& a, const auto& b) { return ByText{}(a.first, b.first); };
  for (const auto& k : w.checks)
    for (const auto& u : k.updates) {
      if (!concerns(k, u)) continue;
      for (const auto& entry : u.node_selector) {
        const auto at = std::lower_bound(out.node_selector.begin(), out.node_selector.end(), entry, by_text);
        if (at == out.node_selector.end() || at->first != entry.first) out.node_selector.insert(at, entry);
      }
      out.tolerations.insert(out.tolerations.end(), u.tolerations.begin(), u.tolerations.end());
    }
  return out;
}

std::shared_ptr<const WorkloadInfo> make_info(const WorkloadState& w, const Catalog& catalog, const CompactText& job_uid,
                                              const WorkloadState* replaced, const OptionPlace* place) {
  static const Symbol pods("pods");
  // What a family asks for stands on its Parent: a change of it holds for all Options at once (CA-34, CA-123).
  const WorkloadState& spec = place == nullptr ? w : *place->parent;
  auto info = std::make_shared<WorkloadInfo>();
  info->id = w.id;
  info->namespace_ = w.namespace_;
  info->name = w.name;
  info->uid = w.uid;
  info->job_uid = job_uid;
  info->local_queue = spec.queue_name;
  info->base_priority = spec.priority.value_or(0);
  info->priority = spec.effective_priority(catalog.settings);
  info->generation = w.generation;
  info->created = w.created;
  info->queue_time = spec.queue_time(catalog.settings);

  const QueueConfig* queue = nullptr;
  if (w.admission)
    queue = catalog.queue(w.admission->cluster_queue);
  else if (const auto* lq = catalog.local_queue(w.namespace_, spec.queue_name))
    queue = catalog.queue(lq->cluster_queue);
  bool covers_pods = false;
  if (queue != nullptr)
    for (const auto& g : queue->groups) covers_pods |= std::find(g.resources.begin(), g.resources.end(), pods) != g.resources.end();

  std::vector<PodSetInfo> pod_sets;
  pod_sets.reserve(w.pod_sets.size());
  for (const auto& p : w.pod_sets) {
    PodSetInfo out;
    out.name = p.name;
    out.count = std::max(0, p.count - w.reclaimable_of(p.name));
    out.min_count = catalog.settings.partial_admission && !w.elastic && place == nullptr ? p.min_count : -1;  // EJ-102, CA-58
    out.requests = countable_requests(p.requests, catalog.settings, covers_pods);
    out.shape = w.reserved() ? shape_with_updates(w, p) : p.shape;
    out.group = p.group;
    out.topology = p.topology;
    if (w.reserved() && !w.plan.empty() && !p.sized.empty()) {  // MR-58
      out.pod_requests = sized_requests(p.requests, p.sized, w.plan, p.name);
      if (out.pod_requests == out.requests) out.pod_requests.clear();
    } else if (out.requests != p.requests) {
      out.pod_requests = p.requests;
    }
    pod_sets.push_back(std::move(out));
  }
  info->pod_sets = std::move(pod_sets);
  info->limits_error = limits_message(w.pod_sets);
  if (place != nullptr) {
    info->option = std::make_shared<const OptionInfo>(place->info);
    info->allowed = place->allowed;
  } else if (catalog.settings.concurrent_admission && w.family_facts && w.family_facts->constrained) {
    info->allowed = std::make_shared<const std::vector<Symbol>>(w.family_facts->allowed);
  }
  // the shape of a replacement tells neither its difference nor its flavor: it is like no other (EJ-43)
  info->equivalence_hash = catalog.settings.scheduling_equivalence_hashing && replaced == nullptr ? equivalence_hash(*info, w) : 0;
  if (is_sizable(w, catalog.settings)) {
    info->sizing = sizing_of(w, covers_pods);
    info->equivalence_hash = 0;  // nor is one that may be made to fit
  }
  // What one sees that takes the place of another one, or that has room kept for it, is true of nobody else.
  if (info->option != nullptr && (info->option->running != no_workload || info->option->held)) info->equivalence_hash = 0;
  if (w.elastic) info->slice_name = spec.slice_name.empty() ? std::string_view(spec.name) : spec.slice_name.view();
  if (replaced != nullptr) {
    info->replaces = replaced->id;
    info->asks_nothing = asks_nothing(*info, *replaced);
  }
  info->evicted = w.evicted();
  for (const auto& c : w.checks) {
    info->failed_checks |= c.state == CheckState::retry || c.state == CheckState::rejected;
    if (c.state == CheckState::ready) info->ready_checks.push_back(c.name);
  }
  std::tie(info->requeued_false, info->requeue_at) = back_off(w, place);
  if (const auto* q = w.find(ConditionType::quota_reserved)) {
    if (q->is_true()) {
      info->reserved_at = q->last_transition;
    } else if (q->is_false()) {
      info->pending_reason = q->reason;
      info->pending_message = q->message;
    }
  }
  return info;
}

namespace {

/// Pods of an assignment that still count: BA-209, and EJ-31 where the spec was scaled down.
std::int32_t effective_count(const WorkloadState& w, const PodSetReservation& p) {
  std::int32_t spec_count = p.count;
  for (const auto& s : w.pod_sets)
    if (s.name == p.pod_set) spec_count = s.count;
  return std::max(0, std::min(p.count, spec_count - w.reclaimable_of(p.pod_set)));
}

Amount share_of(Amount total, std::int32_t count, std::int32_t n) {
  return n == count ? total : static_cast<Amount>(static_cast<WideAmount>(total) / count * n);
}

Symbol flavor_of(const PodSetReservation& p, const Symbol& resource) {
  for (const auto& [res, f] : p.flavors)
    if (res == resource) return f;
  return {};
}

template <class Each>  // (flavor, resource, amount)
void each_charge(const WorkloadState& w, Each each) {
  for (const auto& p : w.admission->pod_sets) {
    if (p.count <= 0) continue;
    const std::int32_t n = effective_count(w, p);
    for (const auto& [resource, total] : p.usage)
      if (const Symbol flavor = flavor_of(p, resource); !flavor.empty()) each(flavor, resource, share_of(total, p.count, n));
  }
}

}  // namespace

std::vector<PodSetReservation> effective_usage(const WorkloadState& w) {
  if (!w.admission) return {};
  auto out = w.admission->pod_sets;
  for (auto& p : out) {
    const std::int32_t n = p.count <= 0 ? 0 : effective_count(w, p);
    for (auto& [resource, amount] : p.usage) amount = p.count <= 0 ? 0 : share_of(amount, p.count, n);
    p.count = n;
  }
  return out;
}

std::vector<std::pair<Symbol, Amount>> slice_delta(const std::vector<PodSetReservation>& now,
                                                   const std::vector<PodSetReservation>& before) {
  std::vector<std::pair<Symbol, Amount>> out;
  const auto sum = [&](const std::vector<PodSetReservation>& pod_sets, bool plus) {
    for (const auto& p : pod_sets)
      for (const auto& [resource, amount] : p.usage) {
        auto it = std::find_if(out.begin(), out.end(), [&, name = resource](const auto& x) { return x.first == name; });
        if (it == out.end()) it = out.insert(out.end(), {resource, 0});
        it->second = plus ? add(it->second, amount) : subtract(it->second, amount);
      }
  };
  sum(now, true);
  sum(before, false);
  std::erase_if(out, [](const auto& x) { return x.second == 0; });
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return ByText{}(a.first, b.first); });
  return out;
}

std::shared_ptr<const Reservation> make_reservation(const WorkloadState& w, std::shared_ptr<const WorkloadInfo> info,
                                                    const WorkloadState* replaced) {
  auto r = std::make_shared<Reservation>();
  r->workload = std::move(info);
  if (!w.admission) return r;
  r->pod_sets = w.admission->pod_sets;
  if (w.admitted() && !w.evicted()) r->unhealthy_nodes = w.unhealthy_nodes;
  if (!w.admitted() && !w.evicted() && w.checks_ready() && w.lacks_places()) r->second_pass_at = w.second_pass_at;
  r->second_passes = w.second_passes;
  if (w.elastic) r->effective = effective_usage(w);
  const auto find = [&](Symbol flavor, Symbol resource) {
    return std::find_if(r->charges.begin(), r->charges.end(), [&](const auto& c) { return c.flavor == flavor && c.resource == resource; });
  };
  each_charge(w, [&](const Symbol& flavor, const Symbol& resource, Amount amount) {
    const auto it = find(flavor, resource);
    if (it == r->charges.end())
      r->charges.push_back({flavor, resource, amount});
    else
      it->amount = add(it->amount, amount);
  });
  if (replaced != nullptr && replaced->admission)
    each_charge(*replaced, [&](Symbol flavor, Symbol resource, Amount amount) {
      const auto it = find(flavor, resource);
      if (it != r->charges.end()) it->amount = std::max<Amount>(0, subtract(it->amount, amount));
    });
  std::sort(r->charges.begin(), r->charges.end(), [](const auto& a, const auto& b) {
    return a.flavor != b.flavor ? ByText{}(a.flavor, b.flavor) : ByText{}(a.resource, b.resource);
  });
  return r;
}

std::vector<Symbol> required_checks(const QueueConfig& queue, const std::vector<PodSetReservation>* assignment) {
  std::vector<Symbol> out;
  for (const auto& rule : queue.checks) {
    bool needed = rule.on_flavors.empty();
    if (!needed && assignment != nullptr) {
      for (const auto& p : *assignment)
        for (const auto& [resource, flavor] : p.flavors)
          needed |= std::find(rule.on_flavors.begin(), rule.on_flavors.end(), flavor) != rule.on_flavors.end();
    } else if (!needed) {
      needed = true;
      for (const auto& g : queue.groups)
        for (const auto& f : g.flavors)
          needed &= std::find(rule.on_flavors.begin(), rule.on_flavors.end(), f.flavor) != rule.on_flavors.end();
    }
    if (needed) out.push_back(rule.name);
  }
  std::sort(out.begin(), out.end(), ByText{});
  return out;
}

}  // namespace hindsight::admission
