#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "admission/model/state_field.hpp"
#include "vocabulary/observations.hpp"
#include "vocabulary/state_hash.hpp"

namespace hindsight::admission {

/// Which version of each object of the configuration was seen last, so that word of an older one changes nothing (design rule 4): what a
/// connector had under way when it lost its way to the log, or was paused, can arrive after what its successor saw. Versions of one cluster
/// rise. Jobs, Workloads and pods know their own.
///
/// Part of the state: derived from the records, in the hash and in snapshots.
class SeenVersions {
 public:
  /// Of objects that are gone so many are remembered, those of the newest versions.
  static constexpr std::size_t gone_max = 1024;

  /// Takes note of the observation. True: it is of an older version than what was seen, or a deletion of what another has taken the place
  /// of.
  [[nodiscard]] bool is_late(const Observation& o);

  /// For objects of which the version that was seen last is kept elsewhere, as long as they are there. It is gone now.
  void note_gone(ObjectKind kind, Text name, Text uid, std::uint64_t version);
  /// Word of such an object that is not there. True: it is of the one that is gone.
  [[nodiscard]] bool is_of_the_gone(ObjectKind kind, const ObjectMeta& meta);

  void add_to(StateHash& h) const;
  void derive();  ///< What follows from the rest, which has been read from a snapshot.

  struct Key {
    ObjectKind kind = ObjectKind::unspecified;
    std::string namespace_, name;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  struct Seen {
    std::string uid;
    std::uint64_t version = 0;
    bool gone = false;
  };
  friend struct StateFields<SeenVersions>;

 private:
  void remember_gone(const Key& key, std::uint64_t version);
  [[nodiscard]] bool is_late(ObjectKind kind, const ObjectMeta& meta);
  [[nodiscard]] bool is_late(const ObjectDeleted& o);
  [[nodiscard]] bool is_overtaken(const ObjectQuarantined& o) const;

  std::map<Key, Seen> seen_;
  std::set<std::pair<std::uint64_t, Key>> gone_;  ///< By version.
};

}  // namespace hindsight::admission
