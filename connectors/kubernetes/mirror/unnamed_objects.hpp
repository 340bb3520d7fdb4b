#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "connectors/kubernetes/mirror/object_version.hpp"
#include "vocabulary/short_uid.hpp"

namespace hindsight::connectors::kubernetes {

/// Objects of which the mirror keeps only that they are there, by uid: the pods of others, of which a large cluster has a million. A place
/// takes 25 bytes, and between half and seven eighths of the places are taken.
class UnnamedObjects {
 public:
  enum class Change : std::uint8_t { none, added, modified };
  struct Observed {
    Change change = Change::none;
    bool is_first_of_list = false;  ///< Since begin_list it was not observed.
  };

  [[nodiscard]] std::size_t size() const { return objects_.size(); }
  [[nodiscard]] bool contains(const ShortUid& uid) const { return objects_.contains(uid); }

  Observed observe(const ShortUid& uid, ObjectVersion version);
  /// Whether it was there, and observed since begin_list.
  struct Removed {
    bool was_listed = false;
  };
  std::optional<Removed> remove(const ShortUid& uid);

  void begin_list();
  /// Removes what was not observed since begin_list.
  [[nodiscard]] std::vector<ShortUid> end_list();

 private:
  struct State {
    std::uint64_t version : 63;
    std::uint64_t is_listed : 1;
  };
  boost::unordered_flat_map<ShortUid, State, ShortUid::Hash> objects_;
};

}  // namespace hindsight::connectors::kubernetes
