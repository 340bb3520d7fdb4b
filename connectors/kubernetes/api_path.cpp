#include "connectors/kubernetes/api_path.hpp"

namespace hindsight::connectors::kubernetes {
namespace {

void append_escaped(std::string& out, std::string_view text) {
  static constexpr char digits[] = "0123456789ABCDEF";
  for (const char c : text) {
    const bool unreserved =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' || c == '~';
    if (unreserved) {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += '%';
    out += digits[byte >> 4U];
    out += digits[byte & 15U];
  }
}

}  // namespace

std::string escape(std::string_view text) {
  std::string out;
  append_escaped(out, text);
  return out;
}

std::string group_version(const ResourceType& type) {
  std::string out(type.group);
  if (!out.empty()) out += '/';
  return out.append(type.version);
}

std::string collection_path(const ResourceType& type, std::string_view namespace_) {
  std::string out;
  out.reserve(128);
  out += type.group.empty() ? "/api/" : "/apis/";
  if (!type.group.empty()) {
    append_escaped(out, type.group);
    out += '/';
  }
  append_escaped(out, type.version);
  if (type.namespaced && !namespace_.empty()) {
    out += "/namespaces/";
    append_escaped(out, namespace_);
  }
  out += '/';
  append_escaped(out, type.plural);
  return out;
}

std::string object_path(const ResourceType& type, std::string_view namespace_, std::string_view name, std::string_view subresource) {
  std::string out = collection_path(type, namespace_);
  out += '/';
  append_escaped(out, name);
  if (!subresource.empty()) {
    out += '/';
    out += subresource;
  }
  return out;
}

}  // namespace hindsight::connectors::kubernetes
