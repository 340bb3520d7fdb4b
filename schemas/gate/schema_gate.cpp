#include "schemas/gate/schema_gate.hpp"

#include <flatbuffers/idl.h>
#include <flatbuffers/reflection_generated.h>

#include <map>
#include <memory>

namespace hindsight::schemas {
namespace {

using Findings = std::vector<std::string>;

/// A parsed schema in reflected form.
class Reflected {
 public:
  static Result<std::unique_ptr<Reflected>> read(const std::string& path) {
    std::string text;
    if (!flatbuffers::LoadFile(path.c_str(), false, &text)) return fail(ErrorKind::not_found, "schema " + path + ": cannot be read");
    auto out = std::make_unique<Reflected>();
    flatbuffers::IDLOptions options;
    options.require_explicit_ids = true;
    flatbuffers::Parser parser(options);
    const std::string folder = flatbuffers::StripFileName(path);
    const char* includes[] = {folder.c_str(), nullptr};
    if (!parser.Parse(text.c_str(), includes, path.c_str())) return fail(ErrorKind::invalid, "schema " + path + ": " + parser.error_);
    parser.Serialize();
    out->bytes_.assign(parser.builder_.GetBufferPointer(), parser.builder_.GetBufferPointer() + parser.builder_.GetSize());
    out->schema_ = reflection::GetSchema(out->bytes_.data());
    return out;
  }

  [[nodiscard]] const reflection::Schema& schema() const { return *schema_; }

  [[nodiscard]] const reflection::Object* object(const std::string& name) const { return find(*schema_->objects(), name); }
  [[nodiscard]] const reflection::Enum* enumeration(const std::string& name) const { return find(*schema_->enums(), name); }

  /// "int", "[hindsight.wire.Pair]": the type as a reader would write it, independent of indexes.
  [[nodiscard]] std::string type_name(const reflection::Type& type) const {
    const bool list = type.base_type() == reflection::Vector || type.base_type() == reflection::Array;
    const auto base = list ? type.element() : type.base_type();
    std::string name = reflection::EnumNameBaseType(base);
    if (base == reflection::Obj) {
      name = schema_->objects()->Get(static_cast<flatbuffers::uoffset_t>(type.index()))->name()->str();
    } else if (type.index() >= 0) {
      name += " " + schema_->enums()->Get(static_cast<flatbuffers::uoffset_t>(type.index()))->name()->str();
    }
    if (type.base_type() == reflection::Array) return "[" + name + ":" + std::to_string(type.fixed_length()) + "]";
    return list ? "[" + name + "]" : name;
  }

 private:
  template <class Items>
  static auto find(const Items& items, const std::string& name) -> decltype(items.Get(0)) {
    for (const auto* item : items) {
      if (item->name()->str() == name) return item;
    }
    return nullptr;
  }

  std::vector<std::uint8_t> bytes_;
  const reflection::Schema* schema_ = nullptr;
};

std::string text(const flatbuffers::String* s) { return s == nullptr ? "" : s->str(); }

std::map<std::uint16_t, const reflection::Field*> fields_by_id(const reflection::Object& object) {
  std::map<std::uint16_t, const reflection::Field*> out;
  for (const auto* field : *object.fields()) out[field->id()] = field;
  return out;
}

void compare_field(const Reflected& before, const Reflected& now, const std::string& where, const reflection::Field& a,
                   const reflection::Field& b, Findings& out) {
  if (a.name()->str() != b.name()->str()) out.push_back(where + ": renamed to " + b.name()->str());
  const auto old_type = before.type_name(*a.type());
  const auto new_type = now.type_name(*b.type());
  if (old_type != new_type) out.push_back(where + ": type changed from " + old_type + " to " + new_type);
  if (a.default_integer() != b.default_integer() || a.default_real() != b.default_real() || a.optional() != b.optional()) {
    out.push_back(where + ": default changed");
  }
  if (a.offset() != b.offset()) out.push_back(where + ": moved within its struct");
  if (b.required() && !a.required()) out.push_back(where + ": became required");
  if (b.deprecated() && !a.deprecated()) out.push_back(where + ": became deprecated, but released records hold it");
}

void compare_object(const Reflected& before, const Reflected& now, const reflection::Object& a, Findings& out) {
  const std::string name = a.name()->str();
  const auto* b = now.object(name);
  if (b == nullptr) return out.push_back(name + ": removed or renamed");
  if (a.is_struct() != b->is_struct()) return out.push_back(name + ": changed between struct and table");
  if (a.is_struct() && (a.bytesize() != b->bytesize() || a.minalign() != b->minalign())) out.push_back(name + ": struct changed its size");
  const auto old_fields = fields_by_id(a);
  const auto new_fields = fields_by_id(*b);
  for (const auto& [id, field] : old_fields) {
    const std::string where = name + "." + field->name()->str();
    if (const auto it = new_fields.find(id); it == new_fields.end()) {
      out.push_back(where + ": removed");
    } else {
      compare_field(before, now, where, *field, *it->second, out);
    }
  }
  for (const auto& [id, field] : new_fields) {
    if (field->required() && !old_fields.contains(id)) out.push_back(name + "." + field->name()->str() + ": new and required");
  }
}

void compare_enum(const Reflected& before, const Reflected& now, const reflection::Enum& a, Findings& out) {
  const std::string name = a.name()->str();
  const auto* b = now.enumeration(name);
  if (b == nullptr) return out.push_back(name + ": removed or renamed");
  if (a.is_union() != b->is_union()) return out.push_back(name + ": changed between enum and union");
  if (a.underlying_type()->base_type() != b->underlying_type()->base_type()) out.push_back(name + ": underlying type changed");
  for (const auto* value : *a.values()) {
    const std::string where = name + "." + value->name()->str();
    const auto* same = b->values()->LookupByKey(value->value());
    if (same == nullptr) {
      out.push_back(where + ": removed");
      continue;
    }
    if (same->name()->str() != value->name()->str()) out.push_back(where + ": renamed to " + same->name()->str());
    if (a.is_union() && value->value() != 0) {
      const auto old_type = before.type_name(*value->union_type());
      const auto new_type = now.type_name(*same->union_type());
      if (old_type != new_type) out.push_back(where + ": stands for " + new_type + ", stood for " + old_type);
    }
  }
}

}  // namespace

Result<Findings> incompatibilities(const std::string& released, const std::string& current) {
  const auto before = Reflected::read(released);
  if (!before) return tl::unexpected(before.error());
  const auto now = Reflected::read(current);
  if (!now) return tl::unexpected(now.error());

  Findings out;
  const auto& a = (*before)->schema();
  const auto& b = (*now)->schema();
  if (text(a.file_ident()) != text(b.file_ident())) {
    out.push_back("file_identifier: changed from \"" + text(a.file_ident()) + "\" to \"" + text(b.file_ident()) + "\"");
  }
  const auto root = [](const reflection::Schema& s) { return s.root_table() == nullptr ? "" : s.root_table()->name()->str(); };
  if (root(a) != root(b)) out.push_back("root_type: changed from \"" + root(a) + "\" to \"" + root(b) + "\"");
  for (const auto* object : *a.objects()) compare_object(**before, **now, *object, out);
  for (const auto* enumeration : *a.enums()) compare_enum(**before, **now, *enumeration, out);
  return out;
}

Result<Findings> house_rule_breaches(const std::string& path) {
  const auto reflected = Reflected::read(path);
  if (!reflected) return tl::unexpected(reflected.error());
  Findings out;
  for (const auto* object : *(*reflected)->schema().objects()) {
    const std::string name = object->name()->str();
    if (object->is_struct()) out.push_back(name + ": is a struct, which can never change; use a table");
    for (const auto* field : *object->fields()) {
      const std::string where = name + "." + field->name()->str();
      const auto* type = field->type();
      for (const auto base : {type->base_type(), type->element()}) {
        if (base == reflection::Float || base == reflection::Double) out.push_back(where + ": is a float; use scaled integers");
      }
      if (field->required()) out.push_back(where + ": is required; what is required can never go");
    }
  }
  for (const auto* enumeration : *(*reflected)->schema().enums()) {
    if (enumeration->values()->LookupByKey(0) == nullptr) out.push_back(enumeration->name()->str() + ": has no value 0");
  }
  return out;
}

}  // namespace hindsight::schemas
