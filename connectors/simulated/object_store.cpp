#include "connectors/simulated/object_store.hpp"

#include <utility>

#include "connectors/json/json_value.hpp"

namespace hindsight::connectors::simulated {

SharedText StoredObject::text() const {
  if (!text_) text_ = std::make_shared<const std::string>(to_text(object));
  return text_;
}

std::string ObjectStore::key(std::string_view namespace_, std::string_view name) {
  std::string out;
  out.reserve(namespace_.size() + name.size() + 1);
  if (!namespace_.empty()) out.append(namespace_).append("/");
  return out.append(name);
}

std::string ObjectStore::owner_key(std::string_view kind, std::string_view namespace_, std::string_view name) {
  return std::string(kind).append("/").append(key(namespace_, name));
}

template <class Visit>
void ObjectStore::each_owner_key(const StoredObject& object, Visit visit) {
  const Json& owners = member(object.metadata(), "ownerReferences");
  if (!owners.is_array()) return;
  for (const auto& owner : owners) {
    const auto kind = simulated::text(owner, "kind");
    const Kind* known = manifests::find_kind(kind);
    const bool cluster_scoped = known != nullptr && !known->type->namespaced;
    visit(owner_key(kind, cluster_scoped ? std::string_view() : object.namespace_, simulated::text(owner, "name")));
  }
}

StoredPointer ObjectStore::find(std::string_view kind, std::string_view namespace_, std::string_view name) const {
  const auto& objects = of_kind(kind);
  const auto it = namespace_.empty() ? objects.find(name) : objects.find(key(namespace_, name));
  return it == objects.end() ? nullptr : it->second;
}

const StoredMap& ObjectStore::of_kind(std::string_view kind) const {
  static const StoredMap none;
  const auto it = kinds_.find(kind);
  return it == kinds_.end() ? none : it->second;
}

std::size_t ObjectStore::in_namespace(std::string_view namespace_) const {
  const auto it = namespaced_.find(namespace_);
  return it == namespaced_.end() ? 0 : it->second;
}

void ObjectStore::add(StoredPointer object) {
  note_owners(object);
  if (!object->namespace_.empty()) ++namespaced_[object->namespace_];
  auto it = kinds_.find(object->kind->type->kind);
  if (it == kinds_.end()) it = kinds_.try_emplace(std::string(object->kind->type->kind)).first;
  it->second[key(object->namespace_, object->name)] = std::move(object);
}

void ObjectStore::remove(const StoredObject& object) {
  forget_owners(object);
  if (!object.namespace_.empty()) --namespaced_[object.namespace_];
  kinds_.find(object.kind->type->kind)->second.erase(key(object.namespace_, object.name));
}

std::vector<StoredPointer> ObjectStore::owned_by(std::string_view kind, std::string_view namespace_, std::string_view name) const {
  std::vector<StoredPointer> out;
  const auto it = owned_.find(owner_key(kind, namespace_, name));
  if (it == owned_.end()) return out;
  for (const auto& [order, object] : it->second) out.push_back(object);
  return out;
}

void ObjectStore::forget_owners(const StoredObject& object) {
  each_owner_key(object, [&](const std::string& owner) {
    const auto it = owned_.find(owner);
    if (it == owned_.end()) return;
    it->second.erase(object.created_order);
    if (it->second.empty()) owned_.erase(it);
  });
}

void ObjectStore::note_owners(const StoredPointer& object) {
  each_owner_key(*object, [&](std::string owner) { owned_[std::move(owner)][object->created_order] = object; });
}

}  // namespace hindsight::connectors::simulated
