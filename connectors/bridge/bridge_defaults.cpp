// What the cluster adds to every pod, and which Workloads are observed anew when it changes.

#include <algorithm>

#include "connectors/bridge/bridge.hpp"
#include "connectors/json/document.hpp"
#include "connectors/json/object_meta.hpp"
#include "connectors/objects/observe.hpp"
#include "vocabulary/arena.hpp"

namespace hindsight::connectors {

/// A LimitRange or RuntimeClass changed: pending Workloads of the namespace, or of the class, ask for something else now (§3.7). What
/// holds quota is charged as it was admitted and is observed anew when that ends.
void Bridge::on_defaults(const WatchEvent& event) {
  const bool range = event.resource->kind == types::limit_range.kind;
  const auto complain = [&](const Error& e) { set_aside(*event.resource, event.object, QuarantineStage::read, e.message); };
  auto document = Document::parse(event.object);
  if (!document && event.type == WatchEvent::Type::deleted) document = Document::parse_beyond_limits(event.object);
  if (!document) return complain(document.error());
  Arena arena;
  Reading reading(arena, document->root(), object_title(event.resource->kind, document->root()));
  const auto meta = read_identity(reading.root());
  if (reading.failed()) return complain(reading.take_error());
  if (event.type == WatchEvent::Type::deleted) {
    if (set_aside_.erase(std::string(meta.uid)) != 0)
      emit_(ObjectDeleted{ObjectKind::unspecified, meta.namespace_, meta.name, meta.uid, {}});
    if (range)
      defaults_.remove_limit_range(meta.namespace_, meta.name);
    else
      defaults_.remove_runtime_class(meta.name);
  } else if (auto done = range ? defaults_.set_limit_range(document->root()) : defaults_.set_runtime_class(document->root()); !done) {
    return complain(done.error());
  } else {
    lift(*event.resource, meta);
  }
  if (range) {
    reobserve_pending(std::string(meta.namespace_), {});
  } else {
    std::vector<std::string> namespaces;
    for (const auto& [name, uids] : pending_) namespaces.push_back(name);
    const std::string quoted = '"' + std::string(meta.name) + '"';
    for (const auto& name : namespaces) reobserve_pending(name, quoted);
  }
}

/// Those whose text has `mention`. Without a version, so that it is no repetition.
void Bridge::reobserve_pending(const std::string& namespace_, std::string_view mention) {
  const auto it = pending_.find(namespace_);
  if (it == pending_.end()) return;
  std::vector<std::string> uids(it->second.begin(), it->second.end());
  std::sort(uids.begin(), uids.end());
  JobContext context;
  context.defaults = &defaults_;
  for (const auto& uid : uids) {
    const auto text = mirror_.find_by_uid(uid);
    if (text == nullptr || (!mention.empty() && text->find(mention) == std::string::npos)) continue;
    Arena arena;
    auto o = observe_text(types::workload, *text, arena, context);
    if (!o) {  // the defaults may make it too large
      set_aside(types::workload, *text, QuarantineStage::read, o.error().message);
      continue;
    }
    std::get<WorkloadObserved>(*o).meta.resource_version = 0;
    emit_(*o);
    tell_again(uid);
  }
}

void Bridge::note_pending(const WorkloadObserved& w) {
  const bool finished = std::any_of(w.conditions.begin(), w.conditions.end(), [](const ConditionFacts& c) {
    return c.type == ConditionType::finished && c.status == ConditionStatus::true_;
  });
  if (w.has_admission || finished) return note_settled(w.meta.namespace_, w.meta.uid);
  pending_[std::string(w.meta.namespace_)].emplace(w.meta.uid);
}

void Bridge::note_settled(std::string_view namespace_, std::string_view uid) {
  const auto it = pending_.find(namespace_);
  if (it == pending_.end()) return;
  it->second.erase(std::string(uid));
  if (it->second.empty()) pending_.erase(it);
}

}  // namespace hindsight::connectors
