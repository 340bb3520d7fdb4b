#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>

#include "vocabulary/result.hpp"

namespace hindsight::connectors {

/// One kind of API object and where it lives.
struct ResourceType {
  std::string_view kind;     ///< "Workload"
  std::string_view group;    ///< "" for core
  std::string_view version;  ///< "v1beta2"
  std::string_view plural;   ///< "workloads"
  bool namespaced = false;
};

/// A request that changes one object. `body` is JSON.
struct Write {
  enum class Verb : std::uint8_t { create, merge_patch, apply_patch, delete_ };
  Verb verb = Verb::merge_patch;
  const ResourceType* type = nullptr;
  std::string namespace_;
  std::string name;
  std::string subresource;  ///< "status" or empty.
  std::string body;         ///< Carries metadata.resourceVersion (and uid) where a precondition is meant.
  std::string field_manager = "hindsight";
};

/// What the server said: the object as JSON on success, a Status on refusal.
struct WriteAnswer {
  int http_status = 0;  ///< 0: no answer at all (connection).
  std::string body;
  int retry_after_seconds = 0;  ///< From 429 and 503.
};

/// Something happened to an object that is watched. `object` is the JSON text of the whole object (last state for deleted).
struct WatchEvent {
  enum class Type : std::uint8_t { added, modified, deleted, synced };  ///< synced: the first list of `type` is complete; no object.
  Type type = Type::added;
  const ResourceType* resource = nullptr;
  std::string_view object;
};

/// A Kubernetes API server, real or simulated, as the mirror and the applier see it.
class Cluster {
 public:
  virtual ~Cluster() = default;
  /// Sends a write; `done` is called once, from the cluster's own thread (inline in a simulated cluster).
  virtual void submit(Write write, std::function<void(WriteAnswer)> done) = 0;
  /// How many writes it makes sense to have submitted without an answer; what goes beyond would wait for its turn, where nobody can decide
  /// it anew. From any thread.
  [[nodiscard]] virtual std::size_t writes_at_once() const { return std::numeric_limits<std::size_t>::max(); }
  /// How many writes the server does well with at a time; 0: that is not known, or there is no end to it. From any thread.
  [[nodiscard]] virtual std::uint32_t write_limit() const { return 0; }
};

}  // namespace hindsight::connectors
