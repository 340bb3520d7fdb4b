#include "evidence/lines.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "evidence/flat_object.hpp"
#include "vocabulary/text.hpp"

namespace hindsight::evidence {
namespace {

/// Fields in the order in which they are put in.
using Object = nlohmann::ordered_json;

std::string line_of(const Object& object) { return object.dump() + "\n"; }

std::string_view text_of(std::span<const std::byte> bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

Result<Digest> digest_in(const FlatObject& object) {
  const auto text = object.text("hash");
  if (!text) return tl::unexpected(text.error());
  const auto digest = parse_digest(*text);
  if (!digest) return fail(ErrorKind::invalid, "field \"hash\" is no hash; allowed: 64 hexadecimal digits in small letters");
  return *digest;
}

Result<std::string> decoded(const FlatObject& object, std::string_view field) {
  const auto text = object.text(field);
  if (!text) return tl::unexpected(text.error());
  auto bytes = parse_base64(*text);
  if (!bytes) return fail(ErrorKind::invalid, "field \"" + std::string(field) + "\" is no base64; allowed: base64 without white space");
  return *std::move(bytes);
}

Result<Head> head_in(const FlatObject& object, std::string_view records_field) {
  Head out;
  for (const auto& [field, to] : {std::pair(records_field, &out.records), std::pair(std::string_view("begin"), &out.begin)}) {
    const auto number = object.number(field);
    if (!number) return tl::unexpected(number.error());
    *to = *number;
  }
  const auto hash = digest_in(object);
  if (!hash) return tl::unexpected(hash.error());
  out.hash = *hash;
  if (out.records < out.begin)
    return fail(ErrorKind::invalid, "field \"begin\" is " + std::to_string(out.begin) + "; allowed: at most " +
                                        std::to_string(out.records) + ", the number of the record");
  return out;
}

Result<Line> record_in(const FlatObject& object) {
  RecordLine out;
  for (const auto& [field, to] : {std::pair("record", &out.number), std::pair("offset", &out.offset), std::pair("sequence", &out.sequence),
                                  std::pair("epoch", &out.epoch)}) {
    const auto number = object.number(field);
    if (!number) return tl::unexpected(number.error());
    *to = *number;
  }
  const auto time = object.integer("time");
  if (!time) return tl::unexpected(time.error());
  out.time = Time{*time};
  if (object.has("domainBase64")) {
    auto domain = decoded(object, "domainBase64");
    if (!domain) return tl::unexpected(domain.error());
    out.domain = std::move(*domain);
  } else {
    const auto domain = object.text("domain");
    if (!domain) return tl::unexpected(domain.error());
    out.domain = *domain;
  }
  auto bytes = decoded(object, "content");
  if (!bytes) return tl::unexpected(bytes.error());
  out.bytes = std::move(*bytes);
  return out;
}

}  // namespace

// ---- base64 ---------------------------------------------------------------------------------------------------------------

std::string base64(std::string_view bytes) {
  std::string out((bytes.size() + 2) / 3 * 4 + 1, '\0');
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()), reinterpret_cast<const unsigned char*>(bytes.data()),
                                   static_cast<int>(bytes.size()));
  out.resize(static_cast<std::size_t>(size));
  return out;
}

std::optional<std::string> parse_base64(std::string_view text) {
  if (text.empty()) return std::string();
  if (text.size() % 4 != 0 || text.size() > line_bytes_max) return std::nullopt;
  // EVP_DecodeBlock takes padding anywhere in the last block, and white space at both ends.
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  const auto digit = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '/';
  };
  if (!std::all_of(text.begin(), text.end() - static_cast<std::ptrdiff_t>(padding), digit)) return std::nullopt;
  std::string out(text.size() / 4 * 3, '\0');
  const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(out.data()), reinterpret_cast<const unsigned char*>(text.data()),
                                   static_cast<int>(text.size()));
  if (size < 0) return std::nullopt;
  out.resize(static_cast<std::size_t>(size) - padding);
  // Bits behind the last byte are zero, so that there is one way to write it.
  if (padding != 0 && base64(std::string_view(out).substr(out.size() / 3 * 3)) != text.substr(text.size() - 4)) return std::nullopt;
  return out;
}

// ---- records --------------------------------------------------------------------------------------------------------------

std::string start_line(const Head& head) { return line_of({{"start", head.records}, {"begin", head.begin}, {"hash", hex(head.hash)}}); }

std::string record_line(std::uint64_t number, std::uint64_t offset, const Content& record) {
  Object out{{"record", number}, {"offset", offset}};
  if (is_utf8(record.domain))
    out["domain"] = std::string(record.domain);
  else
    out["domainBase64"] = base64(record.domain);
  out["sequence"] = record.sequence;
  out["epoch"] = record.epoch;
  out["time"] = record.time.micros;
  out["content"] = base64(text_of(record.bytes));
  return line_of(out);
}

std::string withheld_line(std::uint64_t number, const Digest& content) { return line_of({{"record", number}, {"hash", hex(content)}}); }

Result<Line> read_line(std::string_view text) {
  const auto object = FlatObject::parse(text);
  if (!object) return tl::unexpected(object.error());
  if (object->has("start")) {
    const auto head = head_in(*object, "start");
    if (!head) return tl::unexpected(head.error());
    return StartLine{*head};
  }
  if (object->has("content")) return record_in(*object);
  const auto number = object->number("record");
  if (!number) return tl::unexpected(number.error());
  const auto hash = digest_in(*object);
  if (!hash) return tl::unexpected(hash.error());
  return WithheldLine{*number, *hash};
}

// ---- checkpoints ----------------------------------------------------------------------------------------------------------

std::string checkpoint_line(const Checkpoint& c) {
  return line_of({{"position", c.position},
                  {"begin", c.head.begin},
                  {"records", c.head.records},
                  {"hash", hex(c.head.hash)},
                  {"time", c.time.micros},
                  {"release", c.release},
                  {"key", c.key},
                  {"signature", base64(c.signature)}});
}

Result<Checkpoint> read_checkpoint_line(std::string_view text) {
  const auto object = FlatObject::parse(text);
  if (!object) return tl::unexpected(object.error());
  Checkpoint out;
  const auto head = head_in(*object, "records");
  if (!head) return tl::unexpected(head.error());
  out.head = *head;
  const auto position = object->number("position");
  if (!position) return tl::unexpected(position.error());
  out.position = *position;
  const auto time = object->integer("time");
  if (!time) return tl::unexpected(time.error());
  out.time = Time{*time};
  for (const auto& [field, to] : {std::pair("release", &out.release), std::pair("key", &out.key)}) {
    const auto found = object->text(field);
    if (!found) return tl::unexpected(found.error());
    *to = *found;
  }
  auto signature = decoded(*object, "signature");
  if (!signature) return tl::unexpected(signature.error());
  out.signature = std::move(*signature);
  if (auto ok = check_form(out); !ok) return tl::unexpected(ok.error());
  return out;
}

}  // namespace hindsight::evidence
