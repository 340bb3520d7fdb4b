#include "connectors/kubernetes/mirror/mirror_store.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <utility>

#include "connectors/json/json_value.hpp"
#include "connectors/kubernetes/api_path.hpp"
#include "connectors/kubernetes/mirror/unnamed_objects.hpp"

namespace hindsight::connectors::kubernetes {
namespace {

/// Looks up by view without making a string.
struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>()(text); }
};

std::string key_of(std::string_view namespace_, std::string_view name) {
  std::string key;
  key.reserve(namespace_.size() + name.size() + 1);
  key += namespace_;
  key += '/';
  key += name;
  return key;
}

/// How many deletions are remembered to keep late answers to writes from bringing objects back.
constexpr std::size_t deleted_uids_max = 4096;

/// Of all objects whose texts are not kept.
const KeptText& no_text() {
  static const KeptText text(std::make_shared<const std::string>());
  return text;
}

bool same_type(const ResourceType& a, const ResourceType& b) { return a.plural == b.plural && a.group == b.group; }

}  // namespace

struct MirrorStore::Entry {
  ShortUid uid;
  ObjectVersion observed_version;  ///< Empty: known only from an answer to a write.
  ObjectVersion text_version;      ///< Of `text`; may be later than what was observed.
  KeptText text;                   ///< Empty when the kind keeps none.
  std::uint64_t list_number = 0;
};

std::size_t MirrorStore::ByUid::operator()(const Entry* entry) const noexcept { return ShortUid::Hash()(entry->uid); }
bool MirrorStore::ByUid::operator()(const Entry* a, const Entry* b) const noexcept { return a->uid == b->uid; }
bool MirrorStore::ByUid::operator()(const ShortUid& a, const Entry* b) const noexcept { return a == b->uid; }
bool MirrorStore::ByUid::operator()(const Entry* a, const ShortUid& b) const noexcept { return a->uid == b; }

class MirrorStore::Kind {
 public:
  const ResourceType* type = nullptr;
  bool keep_text = true;
  std::function<bool(std::string_view)> keeps;
  std::uint64_t list_number = 0;
  std::unordered_map<CompactText, Entry, TextHash, std::equal_to<>> entries;  ///< By namespace/name. They do not move.
  UnnamedObjects unnamed;                                                     ///< Those that never had a text to keep.
};

MirrorStore::MirrorStore() = default;
MirrorStore::~MirrorStore() = default;

// ---------------------------------------------------------------- lookups

const MirrorStore::Kind* MirrorStore::find_kind(const ResourceType& type) const {
  for (const auto& kind : kinds_) {
    if (kind->type == &type || same_type(*kind->type, type)) return kind.get();
  }
  return nullptr;
}

MirrorStore::Text MirrorStore::find(const ResourceType& type, std::string_view namespace_, std::string_view name) const {
  const std::string key = key_of(namespace_, name);
  KeptText kept;
  {
    const std::shared_lock lock(mutex_);
    const Kind* kind = find_kind(type);
    if (kind == nullptr) return nullptr;
    const auto found = kind->entries.find(key);
    if (found == kind->entries.end()) return nullptr;
    kept = found->second.text;
  }
  return give(kept);
}

MirrorStore::Text MirrorStore::find_by_uid(std::string_view uid) const {
  const ShortUid wanted(uid);
  KeptText kept;
  {
    const std::shared_lock lock(mutex_);
    const auto found = entries_by_uid_.find(wanted);
    if (found != entries_by_uid_.end()) {
      kept = (*found)->text;
    } else {
      const auto has = [&](const auto& kind) { return kind->unnamed.contains(wanted); };
      if (std::none_of(kinds_.begin(), kinds_.end(), has)) return nullptr;
      kept = no_text();
    }
  }
  return give(kept);
}

/// One object is looked up several times while a write to it is worked out, and again when the write is answered.
MirrorStore::Text MirrorStore::give(const KeptText& kept) const {
  Text text = kept.get();
  if (!kept.is_packed()) return text;
  const std::lock_guard lock(recent_mutex_);
  if (const auto known = std::find(recent_.begin(), recent_.end(), text); known != recent_.end()) recent_.erase(known);
  recent_.push_back(text);
  std::size_t bytes = 0;
  for (const Text& recent : recent_) bytes += recent->size();
  while (recent_.size() > 1 && bytes > recent_bytes_max) {
    bytes -= recent_.front()->size();
    recent_.pop_front();
  }
  return text;
}

std::size_t MirrorStore::count(const ResourceType& type) const {
  const std::shared_lock lock(mutex_);
  const Kind* kind = find_kind(type);
  return kind == nullptr ? 0 : kind->entries.size() + kind->unnamed.size();
}

std::size_t MirrorStore::text_bytes() const {
  const std::shared_lock lock(mutex_);
  return text_bytes_;
}

void MirrorStore::for_each(const ResourceType& type, const std::function<void(const Text&)>& visit) const {
  std::vector<KeptText> texts;
  {
    const std::shared_lock lock(mutex_);
    const Kind* kind = find_kind(type);
    if (kind == nullptr || !kind->keep_text) return;
    texts.reserve(kind->entries.size());
    for (const auto& [key, entry] : kind->entries) {
      if (!entry.text.is_empty()) texts.push_back(entry.text);
    }
  }
  for (const KeptText& text : texts) visit(text.get());
}

// ---------------------------------------------------------------- changes

MirrorStore::Kind& MirrorStore::open(const ResourceType& type, bool keep_text, std::function<bool(std::string_view)> keeps) {
  const std::unique_lock lock(mutex_);
  for (const auto& kind : kinds_) {
    if (same_type(*kind->type, type)) return *kind;
  }
  kinds_.push_back(std::make_unique<Kind>());
  kinds_.back()->type = &type;
  kinds_.back()->keep_text = keep_text;
  kinds_.back()->keeps = std::move(keeps);
  return *kinds_.back();
}

/// Before the lock is taken: a long text takes its time.
KeptText MirrorStore::kept_of(const Kind& kind, const Text& text) {
  return kind.keep_text && (!kind.keeps || kind.keeps(*text)) ? KeptText(text) : no_text();
}

void MirrorStore::set_text(Entry& entry, KeptText text) {
  text_bytes_ -= entry.text.bytes();
  entry.text = std::move(text);
  text_bytes_ += entry.text.bytes();
}

void MirrorStore::forget_uid(const Entry& entry) {
  const auto found = entries_by_uid_.find(&entry);
  if (found != entries_by_uid_.end() && *found == &entry) entries_by_uid_.erase(found);
}

/// Whoever had the uid before has it no more.
void MirrorStore::know_uid(const Entry& entry) {
  if (const auto [at, inserted] = entries_by_uid_.insert(&entry); !inserted && *at != &entry) {
    entries_by_uid_.erase(at);
    entries_by_uid_.insert(&entry);
  }
}

void MirrorStore::offer(const ResourceType& type, std::string object) {
  pad(object);
  ShortUid uid;
  ObjectVersion version;
  std::string key;
  auto text = std::make_shared<std::string>();
  {
    const std::lock_guard lock(reader_mutex_);
    const auto view = reader_.read_object(object);
    if (!view || view->uid.empty() || view->name.empty()) return;  // A Status, for example.
    uid = ShortUid(view->uid);
    version = ObjectVersion(view->resource_version);
    key = key_of(view->namespace_, view->name);
    copy_without_managed_fields(*view, *text);
  }
  Kind* kind = nullptr;
  {
    const std::shared_lock lock(mutex_);
    kind = const_cast<Kind*>(find_kind(type));  // Ours, not const in truth. It never goes.
  }
  if (kind == nullptr || !kind->keep_text) return;
  KeptText kept = kept_of(*kind, text);
  const std::unique_lock lock(mutex_);
  if (deleted_uids_.contains(uid) || (kept.is_empty() && !kind->entries.contains(key))) return;
  const auto [at, inserted] = kind->entries.try_emplace(CompactText(key));
  Entry& entry = at->second;
  if (inserted) {
    entry.uid = std::move(uid);
    know_uid(entry);
  } else if (entry.uid != uid || !version.is_later_than(entry.text_version)) {
    return;
  }
  entry.text_version = version;
  set_text(entry, std::move(kept));
}

void MirrorStore::begin_list(Kind& kind) {
  const std::unique_lock lock(mutex_);
  ++kind.list_number;
  kind.unnamed.begin_list();
}

MirrorStore::Observed MirrorStore::observe(Kind& kind, const ObjectView& object) {
  auto copy = std::make_shared<std::string>();
  copy_without_managed_fields(object, *copy);
  Observed out;
  out.text = std::move(copy);
  KeptText kept = kept_of(kind, out.text);
  const ShortUid uid(object.uid);
  const ObjectVersion version(object.resource_version);

  const std::string key = key_of(object.namespace_, object.name);

  const std::unique_lock lock(mutex_);
  std::optional<UnnamedObjects::Removed> was_unnamed;
  if (kind.keeps && !uid.empty()) {
    if (kept.is_empty() && !kind.entries.contains(key)) return observe_unnamed(kind, uid, version, std::move(out));
    was_unnamed = kind.unnamed.remove(uid);
  }
  const auto [at, inserted] = kind.entries.try_emplace(CompactText(key));
  Entry& entry = at->second;
  out.is_first_of_list = was_unnamed ? !was_unnamed->was_listed : inserted || entry.list_number != kind.list_number;
  entry.list_number = kind.list_number;
  if (inserted) {
    out.change = was_unnamed ? Change::modified : Change::added;
  } else if (entry.uid != uid) {
    const bool was_observed = !entry.observed_version.empty();
    out.change = was_observed ? Change::replaced : Change::added;
    if (was_observed) out.previous = last_text(kind, at->first, entry).get();
    forget_uid(entry);
    entry.text_version = {};
  } else if (entry.observed_version == version && !version.empty()) {
    return out;
  } else {
    out.change = entry.observed_version.empty() ? Change::added : Change::modified;
  }
  if (entry.uid != uid) entry.uid = uid;  // forget_uid has taken it out of the index before
  if (!entry.uid.empty() && (inserted || out.change == Change::replaced || !entries_by_uid_.contains(&entry))) know_uid(entry);
  entry.observed_version = version;
  if (entry.text_version.empty() || !entry.text_version.is_later_than(version)) {
    entry.text_version = version;
    set_text(entry, std::move(kept));
  }
  return out;
}

MirrorStore::Observed MirrorStore::observe_unnamed(Kind& kind, const ShortUid& uid, ObjectVersion version, Observed out) {
  const auto [change, is_first_of_list] = kind.unnamed.observe(uid, version);
  out.is_first_of_list = is_first_of_list;
  switch (change) {
    case UnnamedObjects::Change::none:
      break;
    case UnnamedObjects::Change::added:
      out.change = Change::added;
      break;
    case UnnamedObjects::Change::modified:
      out.change = Change::modified;
      break;
  }
  return out;
}

void MirrorStore::remove(Kind& kind, const ObjectView& object) {
  const ShortUid uid(object.uid);
  const std::unique_lock lock(mutex_);
  if (deleted_uids_.insert(uid).second) {
    deleted_uids_in_order_.push_back(uid);
    if (deleted_uids_in_order_.size() > deleted_uids_max) {
      deleted_uids_.erase(deleted_uids_in_order_.front());
      deleted_uids_in_order_.pop_front();
    }
  }
  if (kind.unnamed.remove(uid)) return;
  const auto found = kind.entries.find(key_of(object.namespace_, object.name));
  // A late deletion of an earlier object of that name.
  if (found == kind.entries.end() || (found->second.uid != uid && !uid.empty())) return;
  set_text(found->second, {});
  forget_uid(found->second);
  kind.entries.erase(found);
}

std::vector<KeptText> MirrorStore::end_list(Kind& kind, std::string_view list_version) {
  std::vector<KeptText> vanished;
  const ObjectVersion listed(list_version);
  const std::unique_lock lock(mutex_);
  for (auto at = kind.entries.begin(); at != kind.entries.end();) {
    Entry& entry = at->second;
    // Written by us after the list was taken: the watch that follows will tell.
    const bool is_newer = !listed.empty() && entry.text_version.is_later_than(listed);
    if (entry.list_number == kind.list_number || is_newer) {
      ++at;
      continue;
    }
    // Nobody was told of an object that is known only from our own write.
    if (!entry.observed_version.empty()) vanished.push_back(last_text(kind, at->first, entry));
    set_text(entry, {});
    forget_uid(entry);
    at = kind.entries.erase(at);
  }
  for (const ShortUid& uid : kind.unnamed.end_list()) vanished.push_back(text_of_identity(kind, {}, uid, {}));
  return vanished;
}

KeptText MirrorStore::last_text(const Kind& kind, std::string_view key, const Entry& entry) {
  return entry.text.is_empty() ? text_of_identity(kind, key, entry.uid, entry.observed_version) : entry.text;
}

KeptText MirrorStore::text_of_identity(const Kind& kind, std::string_view key, const ShortUid& uid, ObjectVersion version) {
  nlohmann::json metadata = {{"uid", uid.text()}};
  if (!version.empty()) metadata["resourceVersion"] = version.text();
  if (!key.empty()) {
    const std::size_t slash = key.find('/');
    metadata["name"] = key.substr(slash + 1);
    if (slash > 0) metadata["namespace"] = key.substr(0, slash);
  }
  const nlohmann::json object = {
      {"apiVersion", group_version(*kind.type)}, {"kind", std::string(kind.type->kind)}, {"metadata", std::move(metadata)}};
  return KeptText(std::make_shared<const std::string>(to_text(object)));
}

}  // namespace hindsight::connectors::kubernetes
