#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace hindsight::hostile {

using Json = nlohmann::json;

/// One request of a tenant to the API server. Texts "@uid:KIND/NAME" in the body stand for the uid of the tenant's own object of that name,
/// which was made before.
struct Write {
  enum class Verb : std::uint8_t { create, patch, remove };
  Verb verb = Verb::create;
  std::string kind;  ///< "Job".
  std::string name;
  bool status = false;  ///< Of a patch: of the status.
  Json body = nullptr;  ///< The object without its namespace; a merge patch; nothing.
};

/// Small numbers that follow from the seed alone.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15ULL + 0xD1B54A32D192ED03ULL) {}
  std::uint64_t next() {
    state_ ^= state_ << 13U;
    state_ ^= state_ >> 7U;
    state_ ^= state_ << 17U;
    return state_;
  }
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(next() % n); }

 private:
  std::uint64_t state_;
};

/// Somebody else's job, whose uid is no secret.
struct Victim {
  std::string namespace_, name, uid;
};

/// What a kind of hostile object is made from.
struct Making {
  Random& random;
  std::uint64_t serial = 0;       ///< Another one for each object.
  std::vector<Victim> victims{};  ///< May be empty.
  std::string queue = "lq";       ///< The tenant's own LocalQueue.

  /// A name that nobody else has.
  [[nodiscard]] std::string name(std::string_view stem) const { return std::string(stem) + "-" + std::to_string(serial); }
};

/// What a tenant needs beyond the right to write jobs and pods of a namespace.
enum class Right : std::uint8_t {
  jobs,       ///< Nothing.
  workloads,  ///< Workloads may be written.
  queues,     ///< LocalQueues may be made.
  statuses,   ///< The statuses of jobs of all kinds, pods or Workloads may be written.
};

/// A kind of hostile object, or of hostile change, with a name to find it by.
struct HostileKind {
  std::string name;
  Right right = Right::jobs;
  std::function<std::vector<Write>(Making&)> make;
};

/// All of them, in an order of their own; names are unique.
[[nodiscard]] const std::vector<HostileKind>& kinds();
[[nodiscard]] const HostileKind& kind_of(std::string_view name);

/// One of the kinds that a flood is made of: small objects and changes that cost the tenant next to nothing. `n` counts them.
struct Flood {
  std::string name;
  Right right = Right::jobs;
  std::function<Write(Making&, std::uint64_t n)> make;
  std::size_t bytes_max = 64 * 1024;  ///< What each may add to the log, with all that follows from it.
  std::uint64_t weight = 1;           ///< For how many small ones each of these stands.
  bool families = false;              ///< It is about ClusterQueues with concurrent admission.
};
[[nodiscard]] const std::vector<Flood>& floods();

/// The body with its "@uid:" texts replaced by what `uid_of` says ("KIND/NAME" → uid, empty: no such object).
[[nodiscard]] Json resolved(Json body, const std::function<std::string(const std::string&)>& uid_of);

// ---- what all kinds begin with ------------------------------------------------------------------------------------------------

/// A Job of one pod with 1 cpu that runs a moment, suspended and in the tenant's queue.
[[nodiscard]] Json job(const Making& m, const std::string& name);
[[nodiscard]] Json pod_template();
[[nodiscard]] Json job_set(const Making& m, const std::string& name);
[[nodiscard]] Json ray_cluster(const Making& m, const std::string& name);
[[nodiscard]] Json ray_job(const Making& m, const std::string& name);
[[nodiscard]] Json workload(const Making& m, const std::string& name);
[[nodiscard]] Json owner(std::string_view version, std::string_view kind, std::string_view name, std::string_view uid,
                         bool controller = true);

[[nodiscard]] inline Write create(Json object) {
  const std::string kind = object["kind"], name = object["metadata"]["name"];
  return {Write::Verb::create, kind, name, false, std::move(object)};
}
[[nodiscard]] inline Write patch(std::string kind, std::string name, Json body, bool status = false) {
  return {Write::Verb::patch, std::move(kind), std::move(name), status, std::move(body)};
}
[[nodiscard]] inline Write remove(std::string kind, std::string name) {
  return {Write::Verb::remove, std::move(kind), std::move(name), false, nullptr};
}

// The families, one a file.
void add_texts(std::vector<HostileKind>& out);      ///< Names, labels, annotations.
void add_numbers(std::vector<HostileKind>& out);    ///< Counts, quantities, limits.
void add_shapes(std::vector<HostileKind>& out);     ///< Templates that are huge, deep or strange.
void add_owners(std::vector<HostileKind>& out);     ///< References to owners: forged, cyclic, many.
void add_workloads(std::vector<HostileKind>& out);  ///< Workloads, LocalQueues, pods and statuses.
void add_changes(std::vector<HostileKind>& out);    ///< Objects that do not stay what they are.
void add_families(std::vector<HostileKind>& out);   ///< Options, Parents and slices that are none.
void add_disguises(std::vector<HostileKind>& out);  ///< Objects that say to be something else, and those of somebody else.
void add_family_floods(std::vector<Flood>& out);

}  // namespace hindsight::hostile
