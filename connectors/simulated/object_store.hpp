#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "connectors/simulated/json_views.hpp"
#include "connectors/simulated/reply.hpp"

namespace hindsight::connectors::simulated {

/// One object as the API server keeps it.
struct StoredObject {
  const Kind* kind = nullptr;
  std::string namespace_;
  std::string name;
  std::string uid;
  std::uint64_t created_order = 0;  ///< Grows with each creation in the cluster.
  std::uint64_t version = 0;        ///< metadata.resourceVersion.
  Json object;                      ///< The whole, metadata included.

  [[nodiscard]] const Json& metadata() const { return member(object, "metadata"); }
  [[nodiscard]] const Json& spec() const { return member(object, "spec"); }
  [[nodiscard]] const Json& status() const { return member(object, "status"); }
  [[nodiscard]] bool deleting() const { return metadata().contains("deletionTimestamp"); }
  /// The JSON text of this state; made once.
  [[nodiscard]] SharedText text() const;
  void forget_text() { text_.reset(); }

 private:
  mutable SharedText text_;
};

using StoredPointer = std::shared_ptr<StoredObject>;
/// Objects of one kind by "namespace/name" (or "name"), in the order in which an API server lists them.
using StoredMap = std::map<std::string, StoredPointer, std::less<>>;

/// The objects of a cluster, by kind and name, and by owner.
class ObjectStore {
 public:
  [[nodiscard]] StoredPointer find(std::string_view kind, std::string_view namespace_, std::string_view name) const;
  [[nodiscard]] const StoredMap& of_kind(std::string_view kind) const;
  [[nodiscard]] std::size_t in_namespace(std::string_view namespace_) const;

  void add(StoredPointer object);
  void remove(const StoredObject& object);

  /// The objects whose ownerReferences name `kind` `name` in that namespace (or any, for a cluster-scoped owner), oldest first.
  [[nodiscard]] std::vector<StoredPointer> owned_by(std::string_view kind, std::string_view namespace_, std::string_view name) const;
  /// To be called around each change of ownerReferences of an object that is in the store.
  void forget_owners(const StoredObject& object);
  void note_owners(const StoredPointer& object);

 private:
  static std::string key(std::string_view namespace_, std::string_view name);
  static std::string owner_key(std::string_view kind, std::string_view namespace_, std::string_view name);
  template <class Visit>
  static void each_owner_key(const StoredObject& object, Visit visit);

  std::map<std::string, StoredMap, std::less<>> kinds_;
  std::map<std::string, std::size_t, std::less<>> namespaced_;
  std::unordered_map<std::string, std::map<std::uint64_t, StoredPointer>> owned_;
};

}  // namespace hindsight::connectors::simulated
