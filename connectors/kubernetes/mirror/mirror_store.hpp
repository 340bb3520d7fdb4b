#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "connectors/cluster.hpp"
#include "connectors/kubernetes/mirror/kept_text.hpp"
#include "connectors/kubernetes/mirror/object_reader.hpp"
#include "connectors/kubernetes/mirror/object_version.hpp"
#include "vocabulary/short_uid.hpp"

namespace hindsight::connectors::kubernetes {

/// The newest known JSON text of each watched object, without metadata.managedFields. Objects from lists of built-in kinds
/// lack apiVersion and kind, as the server leaves them out there. Fed by the reflectors; any thread may look things up. The
/// texts are immutable and shared, so a reader holds no lock while it parses. Long ones are kept compressed (`KeptText`) and made anew for
/// who looks them up; the last ones of these are kept for the next look.
class MirrorStore {
 public:
  using Text = KeptText::Text;
  class Kind;

  MirrorStore();
  ~MirrorStore();

  // ---- for the applier, any thread

  /// Null when the mirror has not seen it, and for objects of whose texts `keeps` said false (see open); empty when it was told to keep no
  /// texts of this kind.
  [[nodiscard]] Text find(const ResourceType& type, std::string_view namespace_, std::string_view name) const;
  /// Null when the mirror has not seen it; empty when it keeps no text of it.
  [[nodiscard]] Text find_by_uid(std::string_view uid) const;
  /// Takes the answer to a write of ours, so that the next plan starts from it before the watch brings it. Older texts than
  /// the known one are ignored, and so are kinds that are not watched. The sink still gets its event when the watch brings it.
  void offer(const ResourceType& type, std::string object);
  [[nodiscard]] std::size_t count(const ResourceType& type) const;
  /// Bytes that all texts take, as they are kept.
  [[nodiscard]] std::size_t text_bytes() const;
  /// Calls `visit` with each text of a kind, in no order; with none of a kind whose texts are not kept. Of long texts one at a time exists.
  void for_each(const ResourceType& type, const std::function<void(const Text&)>& visit) const;

  // ---- for the reflector of a kind, one thread a kind

  enum class Change : std::uint8_t { none, added, modified, replaced };
  struct Observed {
    Change change = Change::none;
    Text text;                      ///< What was observed.
    Text previous;                  ///< For replaced: the object of the same name that must have been deleted unseen.
    bool is_first_of_list = false;  ///< Since begin_list no object of this name was observed.
  };

  /// `keep_text` false: only identities are kept, and empty texts; texts of deletions are then made of those. Of an
  /// object of whose text `keeps` says false only the uid is kept, unless it had a text before: its deletion names the uid alone, and comes
  /// after the list where another of its name was found.
  [[nodiscard]] Kind& open(const ResourceType& type, bool keep_text, std::function<bool(std::string_view)> keeps = {});
  void begin_list(Kind& kind);
  Observed observe(Kind& kind, const ObjectView& object);
  void remove(Kind& kind, const ObjectView& object);
  /// Removes what was not observed since begin_list and returns the last text of each. `list_version`:
  /// of the list; what we wrote after it stays, unless it is empty.
  [[nodiscard]] std::vector<KeptText> end_list(Kind& kind, std::string_view list_version);

  /// Long texts that were looked up last stay in memory: so many bytes together, and the last one.
  static constexpr std::size_t recent_bytes_max = std::size_t{32} << 20U;

 private:
  struct Entry;
  /// Hash and equality of entries by their uids.
  struct ByUid {
    using is_transparent = void;
    std::size_t operator()(const ShortUid& uid) const noexcept { return ShortUid::Hash()(uid); }
    std::size_t operator()(const Entry* entry) const noexcept;
    bool operator()(const Entry* a, const Entry* b) const noexcept;
    bool operator()(const ShortUid& a, const Entry* b) const noexcept;
    bool operator()(const Entry* a, const ShortUid& b) const noexcept;
  };
  [[nodiscard]] Text give(const KeptText& kept) const;
  void forget_uid(const Entry& entry);
  void know_uid(const Entry& entry);
  [[nodiscard]] static KeptText kept_of(const Kind& kind, const Text& text);
  void set_text(Entry& entry, KeptText text);
  [[nodiscard]] const Kind* find_kind(const ResourceType& type) const;
  [[nodiscard]] static Observed observe_unnamed(Kind& kind, const ShortUid& uid, ObjectVersion version, Observed out);
  [[nodiscard]] static KeptText last_text(const Kind& kind, std::string_view key, const Entry& entry);
  /// In place of a text that was not kept. `key` is empty for an object without a name here.
  [[nodiscard]] static KeptText text_of_identity(const Kind& kind, std::string_view key, const ShortUid& uid, ObjectVersion version);

  mutable std::shared_mutex mutex_;
  std::vector<std::unique_ptr<Kind>> kinds_;  ///< Guarded by mutex_, as all below.
  std::unordered_set<const Entry*, ByUid, ByUid> entries_by_uid_;
  std::unordered_set<ShortUid, ShortUid::Hash> deleted_uids_;  ///< The last ones, so that a late answer to a write revives nothing.
  std::deque<ShortUid> deleted_uids_in_order_;
  std::size_t text_bytes_ = 0;

  mutable std::mutex recent_mutex_;
  mutable std::deque<Text> recent_;  ///< Guarded by recent_mutex_; the last is the newest.

  std::mutex reader_mutex_;
  ObjectReader reader_;  ///< Guarded by reader_mutex_.
};

}  // namespace hindsight::connectors::kubernetes
