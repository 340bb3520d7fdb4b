#include "admission/domain/seen_versions.hpp"

#include "vocabulary/observed_kind.hpp"

namespace hindsight::admission {
namespace {

/// Those whose newest version is kept here; what else is observed has another memory, or none.
constexpr bool is_configuration(ObjectKind kind) {
  return kind == ObjectKind::resource_flavor || kind == ObjectKind::cluster_queue || kind == ObjectKind::cohort ||
         kind == ObjectKind::local_queue || kind == ObjectKind::workload_priority_class || kind == ObjectKind::priority_class ||
         kind == ObjectKind::namespace_ || kind == ObjectKind::admission_check || kind == ObjectKind::topology;
}

}  // namespace

bool SeenVersions::is_late(const Observation& o) {
  return std::visit(
      [this]<class T>(const T& x) {
        if constexpr (std::is_same_v<T, ObjectDeleted>) {
          return is_late(x);
        } else if constexpr (std::is_same_v<T, ObjectQuarantined>) {
          return is_overtaken(x);
        } else if constexpr (is_configuration(observed_kind<T>())) {
          return is_late(observed_kind<T>(), x.meta);
        } else {
          return false;
        }
      },
      o);
}

bool SeenVersions::is_late(ObjectKind kind, const ObjectMeta& meta) {
  if (meta.resource_version == 0) return false;
  const Key key{kind, std::string(meta.namespace_), std::string(meta.name)};
  Seen& seen = seen_[key];
  if (meta.resource_version < seen.version || (seen.gone && meta.resource_version == seen.version)) return true;
  if (seen.gone) gone_.erase({seen.version, key});
  seen.uid = meta.uid;
  seen.version = meta.resource_version;
  seen.gone = false;
  return false;
}

bool SeenVersions::is_late(const ObjectDeleted& o) {
  if (!is_configuration(o.kind)) return false;
  const auto it = seen_.find({o.kind, std::string(o.namespace_), std::string(o.name)});
  if (it == seen_.end()) return false;
  if (!o.uid.empty() && it->second.uid != o.uid) return true;
  if (!o.departed_to.empty()) return false;  // it lives, and may come back as it was
  if (it->second.gone) return false;
  it->second.gone = true;
  remember_gone(it->first, it->second.version);
  return false;
}

void SeenVersions::remember_gone(const Key& key, std::uint64_t version) {
  gone_.emplace(version, key);
  if (gone_.size() <= gone_max) return;
  seen_.erase(gone_.begin()->second);
  gone_.erase(gone_.begin());
}

void SeenVersions::note_gone(ObjectKind kind, Text name, Text uid, std::uint64_t version) {
  const Key key{kind, {}, std::string(name)};
  if (version == 0 || seen_.contains(key)) return;
  seen_[key] = {std::string(uid), version, true};
  remember_gone(key, version);
}

bool SeenVersions::is_of_the_gone(ObjectKind kind, const ObjectMeta& meta) {
  if (meta.resource_version == 0) return false;
  const auto it = seen_.find({kind, std::string(meta.namespace_), std::string(meta.name)});
  if (it == seen_.end()) return false;
  if (meta.resource_version <= it->second.version) return true;
  gone_.erase({it->second.version, it->first});
  seen_.erase(it);
  return false;
}

/// Takes no note: what is told of the version later, when it can be read, is news.
bool SeenVersions::is_overtaken(const ObjectQuarantined& o) const {
  if (!is_configuration(o.kind) || o.resource_version == 0) return false;
  const auto it = seen_.find({o.kind, std::string(o.namespace_), std::string(o.name)});
  return it != seen_.end() && o.resource_version < it->second.version;
}

void SeenVersions::derive() {
  gone_.clear();
  for (const auto& [key, seen] : seen_)
    if (seen.gone) gone_.emplace(seen.version, key);
}

void SeenVersions::add_to(StateHash& h) const {
  for (const auto& [key, seen] : seen_) {
    h.add(key.kind);
    h.add(key.namespace_);
    h.add(key.name);
    h.add(seen.uid);
    h.add(seen.version);
    h.add(seen.gone);
  }
}

}  // namespace hindsight::admission
