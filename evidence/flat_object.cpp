#include "evidence/flat_object.hpp"

#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "evidence/lines.hpp"
#include "vocabulary/printable.hpp"
#include "vocabulary/text.hpp"

namespace hindsight::evidence {

/// Takes what the parser finds; stops it at the first thing that is not allowed.
class FlatReader final : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit FlatReader(FlatObject& out) : out_(out) {}
  [[nodiscard]] const std::string& why() const { return why_; }

  bool null() override { return refuse("null"); }
  bool boolean(bool /*value*/) override { return refuse("true or false"); }
  bool number_integer(number_integer_t value) override { return take(std::int64_t{value}); }
  bool number_unsigned(number_unsigned_t value) override { return take(std::uint64_t{value}); }
  bool number_float(number_float_t value, const string_t& /*text*/) override { return take(double{value}); }
  bool string(string_t& value) override { return take(std::move(value)); }
  bool binary(binary_t& /*value*/) override { return refuse("binary"); }
  bool start_array(std::size_t /*size*/) override { return refuse("a list"); }
  bool end_array() override { return true; }
  bool start_object(std::size_t /*size*/) override {
    if (std::exchange(inside_, true)) return refuse("an object");
    return true;
  }
  bool end_object() override { return true; }
  bool key(string_t& name) override {
    if (out_.fields_.size() >= line_fields_max)
      return stop("has more than " + std::to_string(line_fields_max) + " fields; allowed: up to that");
    if (out_.has(name)) return stop("field " + shown(name) + " stands twice; allowed: once");
    key_ = std::move(name);
    return true;
  }
  bool parse_error(std::size_t position, const std::string& /*token*/, const nlohmann::json::exception& /*error*/) override {
    return stop("is no JSON from byte " + std::to_string(position) + " on; allowed: one JSON object");
  }

 private:
  static std::string shown(std::string_view text) { return "\"" + printable(cut_message(text, 64)) + "\""; }
  bool stop(std::string why) {
    if (why_.empty()) why_ = std::move(why);
    return false;
  }
  bool refuse(const std::string& found) {
    if (!inside_) return stop("holds " + found + "; allowed: one JSON object");
    return stop("field " + shown(key_) + " holds " + found + "; allowed: a text or a number");
  }
  template <class T>
  bool take(T value) {
    if (!inside_) return stop("holds a single value; allowed: one JSON object");
    out_.fields_.emplace(std::move(key_), std::move(value));
    return true;
  }

  FlatObject& out_;
  std::string key_, why_;
  bool inside_ = false;
};

Result<FlatObject> FlatObject::parse(std::string_view text) {
  FlatObject out;
  FlatReader reader(out);
  if (!nlohmann::json::sax_parse(text, &reader)) return fail(ErrorKind::invalid, reader.why());
  return out;
}

const FlatObject::Value* FlatObject::find(std::string_view field) const {
  const auto it = fields_.find(field);
  return it == fields_.end() ? nullptr : &it->second;
}

Result<std::uint64_t> FlatObject::number(std::string_view field) const {
  const Value* value = find(field);
  if (value != nullptr)
    if (const auto* number = std::get_if<std::uint64_t>(value)) return *number;
  return fail(ErrorKind::invalid, "field \"" + std::string(field) + "\" " + (value == nullptr ? "is missing" : "is no whole number") +
                                      "; allowed: a number from 0 to 18446744073709551615");
}

Result<std::int64_t> FlatObject::integer(std::string_view field) const {
  const Value* value = find(field);
  if (value != nullptr) {
    if (const auto* number = std::get_if<std::int64_t>(value)) return *number;
    if (const auto* number = std::get_if<std::uint64_t>(value);
        number != nullptr && *number <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      return static_cast<std::int64_t>(*number);
  }
  return fail(ErrorKind::invalid, "field \"" + std::string(field) + "\" " + (value == nullptr ? "is missing" : "is no whole number") +
                                      "; allowed: a number of microseconds");
}

Result<std::string_view> FlatObject::text(std::string_view field) const {
  const Value* value = find(field);
  if (value != nullptr)
    if (const auto* text = std::get_if<std::string>(value)) return std::string_view(*text);
  return fail(ErrorKind::invalid,
              "field \"" + std::string(field) + "\" " + (value == nullptr ? "is missing" : "is no text") + "; allowed: a text");
}

}  // namespace hindsight::evidence
