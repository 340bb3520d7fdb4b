#include "connectors/bridge/memory_mirror.hpp"

#include <charconv>

#include <simdjson.h>

namespace hindsight::connectors {
namespace {

struct Identity {
  std::string name_key, uid;
  std::uint64_t version = 0;
  bool ends = false;  ///< It is being deleted, and nothing holds it: the write that left it so was its last.
};

std::string name_key(const ResourceType& type, std::string_view namespace_, std::string_view name) {
  std::string key(type.plural);
  key.append("/").append(namespace_).append("/").append(name);
  return key;
}

std::optional<Identity> identify(const ResourceType& type, std::string_view text) {
  thread_local simdjson::dom::parser parser;
  simdjson::dom::element object;
  if (parser.parse(text.data(), text.size()).get(object) != simdjson::SUCCESS) return std::nullopt;
  const auto member = [&](const char* key) {
    std::string_view value;
    const auto error = object["metadata"][key].get(value);
    return error == simdjson::SUCCESS ? value : std::string_view();
  };
  const std::string_view name = member("name");
  if (name.empty()) return std::nullopt;
  const std::string_view namespace_ = member("namespace");
  const std::string_view uid = member("uid");
  const std::string_view version_text = member("resourceVersion");
  std::uint64_t version = 0;
  (void)std::from_chars(version_text.data(), version_text.data() + version_text.size(), version);
  simdjson::dom::array finalizers;
  const bool held = object["metadata"]["finalizers"].get(finalizers) == simdjson::SUCCESS && finalizers.size() != 0;
  return Identity{name_key(type, namespace_, name), std::string(uid), version, !member("deletionTimestamp").empty() && !held};
}

}  // namespace

void MemoryMirror::put(const ResourceType& type, std::string_view object) {
  const auto id = identify(type, object);
  if (!id) return;
  auto text = std::make_shared<const std::string>(object);
  by_name_.insert_or_assign(id->name_key, text);
  if (!id->uid.empty()) by_uid_.insert_or_assign(id->uid, std::move(text));
}

void MemoryMirror::on_watch(const WatchEvent& event) {
  if (event.type == WatchEvent::Type::synced) return;
  if (event.type != WatchEvent::Type::deleted) return put(*event.resource, event.object);
  if (const auto id = identify(*event.resource, event.object)) {
    by_name_.erase(id->name_key);
    by_uid_.erase(id->uid);
  }
}

void MemoryMirror::offer(const ResourceType& type, std::string object) {
  // the watch may have brought a later state before the answer to our write
  const auto offered = identify(type, object);
  if (!offered || offered->ends) return;  // the watch has told that it is gone, or is about to
  const auto known = by_name_.find(offered->name_key);
  if (known != by_name_.end())
    if (const auto id = identify(type, *known->second); id && id->uid == offered->uid && id->version > offered->version) return;
  put(type, object);
}

Mirror::ObjectText MemoryMirror::find(const ResourceType& type, std::string_view namespace_, std::string_view name) const {
  const auto it = by_name_.find(name_key(type, namespace_, name));
  return it == by_name_.end() ? nullptr : it->second;
}

Mirror::ObjectText MemoryMirror::find_by_uid(std::string_view uid) const {
  const auto it = by_uid_.find(std::string(uid));
  return it == by_uid_.end() ? nullptr : it->second;
}

}  // namespace hindsight::connectors
